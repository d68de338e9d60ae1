import type { LineEditor, Move } from './line-editor.ts'
import type { Key } from './read-keys.ts'

/** The keys of shells and of Emacs, as in `readline`. */
const moves: { readonly [key: string]: Move } = {
  left: 'left',
  right: 'right',
  home: 'line-start',
  end: 'line-end',
  'meta-left': 'word-left',
  'meta-right': 'word-right',
  'meta-b': 'word-left',
  'meta-f': 'word-right',
  'ctrl-a': 'line-start',
  'ctrl-e': 'line-end',
  'ctrl-b': 'left',
  'ctrl-f': 'right',
  'ctrl-left': 'word-left',
  'ctrl-right': 'word-right',
}

const deletions: { readonly [key: string]: Move } = {
  backspace: 'left',
  delete: 'right',
  'meta-backspace': 'word-left',
  'meta-d': 'word-right',
  'ctrl-h': 'left',
  'ctrl-d': 'right',
  'ctrl-w': 'word-left',
  'ctrl-backspace': 'word-left',
  'ctrl-u': 'line-start',
  'ctrl-k': 'line-end',
}

/** Alt-Enter and Ctrl-J. */
const lineBreaks: readonly string[] = ['meta-return', 'enter', 'ctrl-j']

export function editKey(editor: LineEditor, { text, name = '', ctrl, meta }: Key): void {
  const key = `${ctrl ? 'ctrl-' : ''}${meta ? 'meta-' : ''}${name}`
  const [move, deletion] = [moves[key], deletions[key]]
  if (move) editor.move(move)
  else if (deletion) editor.delete(deletion)
  else if (key === 'ctrl-y') editor.yank()
  else if (lineBreaks.includes(key)) editor.insert('\n')
  // Other sequences type nothing.
  else if (!ctrl && !meta && !/\p{Cc}/u.test(text)) editor.insert(text)
}
