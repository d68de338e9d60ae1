/** Whether a text has no visible character: only white space, control and invisible characters, such as U+200B. */
export function isBlank(text: string): boolean {
  if (text === '') return true
  // Most texts begin with a visible ASCII character, and a search costs more.
  const first = text.charCodeAt(0)
  return (first <= 0x20 || first >= 0x7f) && !/[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(text)
}
