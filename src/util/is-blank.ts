/** Whether a text shows nothing: white space, control characters and characters that are never displayed, such as U+200B. Ends at the first visible one. */
export const isBlank = (text: string): boolean => !/[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(text)
