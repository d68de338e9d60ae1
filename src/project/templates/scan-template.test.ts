// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what is no template
import { describe, expect, test } from 'vitest'
import { isTemplate, templateReferences } from './scan-template.ts'

const names = (text: string): readonly (readonly string[] | undefined)[] => templateReferences(text).map((reference) => reference.names)

describe('references', () => {
  test.each<[text: string, expected: readonly (readonly string[] | undefined)[]]>([
    ['{% include "a.md" %}', [['a.md']]],
    ["{%- include 'a.md' -%}", [['a.md']]],
    ['{% include ["a.md", "b.md"] ignore missing %}', [['a.md', 'b.md']]],
    ['{% import "m.md" as m %}{% from "n.md" import f, g %}{% extends "base.md" %}', [['m.md'], ['n.md'], ['base.md']]],
    ['{% include name %}{% include "a" ~ ".md" %}{% include "a" if x else "b" %}', [undefined, undefined, undefined]],
    ['{# {% include "a" %} #}{% raw %}{% include "b" %}{%- endraw -%}{% include "c" %}', [['c']]],
    ['{{ "{% include \'a\' %}" }}{% set x = "%}{% include \'b\' %}" %}', []],
    ['{% include "it\\"s.md" %}', [['it"s.md']]],
    ['{% include "never closed', [undefined]],
    ['{# never closed {% include "a" %}', []],
    ['text only', []],
  ])('%s', (text, expected) => {
    expect(names(text)).toEqual(expected)
  })

  test('know their position and whether they may be missing', () => {
    expect(templateReferences('ab\n{% include "a" ignore missing %}')).toEqual([{ offset: 3, names: ['a'], optional: true }])
  })

  test('are found in linear time, whatever the text', () => {
    for (const text of ['{% include "\\"'.repeat(20_000), '{{ \' " '.repeat(20_000), '{%'.repeat(50_000), '{#'.repeat(50_000)])
      expect(templateReferences(text).length).toBeLessThan(text.length)
  })
})

test('a text without braces has nothing to do', () => {
  expect(['plain', '{ }', 'a { b % }', '${HOME}'].map(isTemplate)).toEqual([false, false, false, false])
  expect(['{{ a }}', '{% a %}', '{# a #}'].map(isTemplate)).toEqual([true, true, true])
})
