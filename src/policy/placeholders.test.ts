// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasPlaceholders, parsePlaceholders } from './placeholders.ts'

const literal = (text: string) => ({ kind: 'literal', text })
const variable = (name: string, fallback?: string) => ({ kind: 'variable', name, ...(fallback !== undefined && { fallback }) })

test.each([
  ['', []],
  ['plain $HOME $ {A} $(id)', [literal('plain $HOME $ {A} $(id)')]],
  ['${A}', [variable('A')]],
  ['${__proto__}', [variable('__proto__')]],
  ['a${A}b${B:-c}d', [literal('a'), variable('A'), literal('b'), variable('B', 'c'), literal('d')]],
  ['${A:-}', [variable('A', '')]],
  ['${A:-x:-y}', [variable('A', 'x:-y')]],
  ['$${A}', [literal('${A}')]],
  ['$$${A}', [literal('$${A}')]],
  ['$${A}${B}', [literal('${A}'), variable('B')]],
  ['${A}$${B}', [variable('A'), literal('${B}')]],
  ['${A}}', [variable('A'), literal('}')]],
])('%j', (text, parts) => {
  expect(parsePlaceholders(text)).toEqual({ ok: true, parts })
  expect(hasPlaceholders(text)).toBe(parts.some(({ kind }) => kind === 'variable'))
})

test.each([
  ['${A', 'a placeholder is not closed'],
  ['${}', 'invalid placeholder `${}`'],
  ['${a b}', 'invalid placeholder `${a b}`'],
  ['${A:?no}', 'invalid placeholder `${A:?no}`'],
  ['${input:key}', 'invalid placeholder `${input:key}`'],
  ['${A:-${B}}', 'invalid placeholder `${A:-${B}`'],
  ['${${A}}', 'invalid placeholder `${${A}`'],
  ['${1A}', 'invalid placeholder `${1A}`'],
])('%j is refused', (text, message) => {
  expect(parsePlaceholders(text)).toEqual({ ok: false, message })
  expect(hasPlaceholders(text)).toBe(true)
})

test('a text without `${` is itself', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }).filter((text) => !text.includes('${')),
      (text) => {
        expect(parsePlaceholders(text)).toEqual({ ok: true, parts: text === '' ? [] : [literal(text)] })
      },
    ),
  )
})

test('any text can be written so that it means itself', () => {
  const pieces = fc.array(fc.constantFrom('$', '{', '}', '${', 'A', ':-', '$$')).map((parts) => parts.join(''))
  fc.assert(
    fc.property(pieces, (text) => {
      const template = parsePlaceholders(text.replaceAll('${', () => '$${'))
      expect(template.ok && template.parts.map((part) => (part.kind === 'literal' ? part.text : '!')).join('')).toBe(text)
    }),
  )
})
