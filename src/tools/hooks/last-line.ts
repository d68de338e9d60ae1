/** What a program that failed has said last, to be put behind what is known of it. */
export function lastLine(printed: string): string {
  const last = printed.trim().split('\n').at(-1) ?? ''
  return last === '' ? '' : `: ${last}`
}
