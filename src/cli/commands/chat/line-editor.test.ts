import { describe, expect, test } from 'vitest'
import { editKey } from './edit-keys.ts'
import { editorRows } from './editor-rows.ts'
import { LineEditor } from './line-editor.ts'
import type { Key } from './read-keys.ts'

const key = (name: string, { ctrl = false, meta = false } = {}): Key => ({
  text: name.length === 1 ? name : '',
  name,
  ctrl,
  meta,
  shift: false,
})

function edited(text: string, ...keys: readonly Key[]): LineEditor {
  const editor = new LineEditor()
  editor.set(text)
  for (const each of keys) editKey(editor, each)
  return editor
}

describe('keys', () => {
  test.each([
    ['one two', [key('w', { ctrl: true })], 'one |'],
    ['one two', [key('left', { meta: true }), key('k', { ctrl: true })], 'one |'],
    ['one two', [key('a', { ctrl: true }), key('d', { ctrl: true })], '|ne two'],
    ['one two', [key('u', { ctrl: true })], '|'],
    ['one two', [key('w', { ctrl: true }), key('a', { ctrl: true }), key('y', { ctrl: true })], 'two|one '],
    ['日👨‍👩‍👧é', [key('left'), key('backspace')], '日|é'],
    ['a', [key('return', { meta: true }), key('b')], 'a\nb|'],
    ['a\nb', [key('backspace'), key('backspace')], 'a|'],
    ['a', [{ ...key('x'), text: '\u001b[17~', name: 'f6' }], 'a|'],
  ])('%j', (text, keys, shown) => {
    const { text: now, cursor } = edited(text, ...keys)
    expect(`${now.slice(0, cursor)}|${now.slice(cursor)}`).toBe(shown)
  })

  test('up and down keep the column, and stop at the edges', () => {
    const editor = edited('first\n日本語\nlast')
    expect(editor.moveLine(1)).toBe(false)
    expect(editor.moveLine(-1)).toBe(true)
    expect(editor.text.slice(editor.cursor)).toBe('\nlast')
    expect([editor.moveLine(-1), editor.moveLine(-1)]).toEqual([true, false])
    expect(editor.text.slice(0, editor.cursor)).toBe('fir')
  })
})

describe('pastes', () => {
  test('a long one is one mark, and the content has all of it', () => {
    const editor = edited('See ')
    const pasted = 'x$&y\r\n'.repeat(20)
    editor.paste(pasted)
    editor.insert(' and')
    expect(editor.text).toBe('See [Pasted text 1: 21 lines] and')
    expect(editor.content).toBe(`See ${'x$&y\n'.repeat(20)} and`)
    editor.move('word-left')
    editor.delete('left')
    editor.delete('left')
    expect([editor.text, editor.content]).toEqual(['See and', 'See and'])
  })

  test('a short one is text', () => {
    const editor = edited('')
    editor.paste('a\rb')
    expect(editor.text).toBe('a\nb')
  })
})

describe('rows', () => {
  test('wrap at the width, with the cursor at its place', () => {
    expect(editorRows({ text: '日本語 and', cursor: 3 }, { width: 8, maxRows: 4, prompt: '› ' })).toEqual({
      rows: ['› 日本', '  語 an', '  d'],
      cursor: { row: 1, column: 4 },
    })
  })

  test('of a long text are those around the cursor', () => {
    const text = Array.from({ length: 9 }, (_, i) => String(i)).join('\n')
    expect(editorRows({ text, cursor: 8 }, { width: 20, maxRows: 3, prompt: '› ' })).toEqual({
      rows: ['  3', '  4', '  5'],
      cursor: { row: 1, column: 2 },
    })
  })

  test('show control characters, and never send them', () => {
    expect(editorRows({ text: 'a\u001b[2J', cursor: 0 }, { width: 20, maxRows: 3, prompt: '' }).rows.join('')).not.toContain('\u001b')
  })
})
