import { grouped, type NoteNode } from '../../view/index.ts'

const hookTexts: { readonly [Verdict in Extract<NoteNode, { hook: string }>['verdict']]: string } = {
  changed: 'changed the call',
  blocked: 'blocked it',
  context: 'added context',
  resumed: 'continued the turn',
  failed: 'failed',
}

/** A diagnostic, a compaction or the effect of a hook as a sentence. */
export function noteText(note: NoteNode): string {
  if ('tokensBefore' in note) return `History compacted: ${grouped(note.tokensBefore)} → ${grouped(note.tokensAfter)} tokens`
  if ('hook' in note) return `Hook ${note.hook} ${hookTexts[note.verdict]}${note.message === '' ? '' : `: ${note.message}`}`
  return note.remedy === undefined ? note.message : `${note.message} ${note.remedy}`
}
