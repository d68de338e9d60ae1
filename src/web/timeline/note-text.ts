import { grouped, type NoteNode } from '../../view/index.ts'

/** A diagnostic, a compaction or the effect of a hook as a sentence. */
export function noteText(note: NoteNode): string {
  if ('tokensBefore' in note) return `History compacted: ${grouped(note.tokensBefore)} → ${grouped(note.tokensAfter)} tokens`
  if ('hook' in note) return `Hook ${note.hook}: ${note.verdict}${note.message === '' ? '' : `, ${note.message}`}`
  return note.remedy === undefined ? note.message : `${note.message} ${note.remedy}`
}
