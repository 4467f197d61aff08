/** True for names of the machine itself. Takes the host as `URL` normalizes it: `127.1` becomes `127.0.0.1`. */
export const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
