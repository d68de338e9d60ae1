/** Called before every call of write_file. Its answer is recorded in the journal. */
export function beforeCall({ input }) {
  if (/password/i.test(String(input.content))) return { kind: 'block', reason: 'Passwords do not belong in files.' }
  return { kind: 'continue' }
}
