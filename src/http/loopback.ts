/** True for names of the machine itself. Takes the host as URL writes it: `127.1` is `127.0.0.1` there. */
export const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
