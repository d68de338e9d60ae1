import { expect, test } from 'vitest'
import { keysText, matchesKeys } from './shortcut-keys.ts'

const pressed = (key: string, held: { readonly [name: string]: boolean } = {}) => ({
  ...{ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false },
  ...held,
})

test('Mod is Ctrl, and the command key on a Mac', () => {
  expect(matchesKeys('Mod+K', pressed('k', { ctrlKey: true }), false)).toBe(true)
  expect(matchesKeys('Mod+K', pressed('k', { metaKey: true }), true)).toBe(true)
  expect(matchesKeys('Mod+K', pressed('k', { ctrlKey: true }), true)).toBe(false)
  expect(['Mod+K', 'Alt+Enter', '?'].map((keys) => [keysText(keys, false), keysText(keys, true)])).toEqual([
    ['Ctrl+K', '⌘K'],
    ['Alt+Enter', '⌥⏎'],
    ['?', '?'],
  ])
})

test('keys of the browser and of other commands do not match', () => {
  for (const held of [{}, { ctrlKey: true, shiftKey: true }, { ctrlKey: true, altKey: true }, { ctrlKey: true, metaKey: true }])
    expect(matchesKeys('Mod+K', pressed('K', held), false)).toBe(false)
  expect(matchesKeys('N', pressed('n', { ctrlKey: true }), false)).toBe(false)
})

test('Shift may be needed for a character', () => {
  expect(matchesKeys('?', pressed('?', { shiftKey: true }), false)).toBe(true)
  expect(matchesKeys('N', pressed('n'), false)).toBe(true)
})
