/** Whether a text has no visible character: only white space, control and invisible characters, such as U+200B. */
export const isBlank = (text: string): boolean => !/[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(text)
