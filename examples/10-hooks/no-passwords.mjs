/** Asked before every call of write_file; what it answers is in the journal. */
export function beforeCall({ input }) {
  if (/password/i.test(String(input.content))) return { kind: 'block', reason: 'Passwords do not belong into files.' }
  return { kind: 'continue' }
}
