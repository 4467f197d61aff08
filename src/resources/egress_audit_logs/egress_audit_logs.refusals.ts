/** The fault of a `from`. */
export const FROM_AFTER_TO = "must not be after to";
