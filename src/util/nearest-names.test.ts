import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearestNames } from './nearest-names.ts'

const tools = [
  'agent__research_icp',
  'fetch',
  'github__create_issue',
  'github__list_issues',
  'read_file',
  'read_output',
  'shell',
  'write_file',
]

describe('nearestNames', () => {
  it.each([
    ['create_issue', ['github__create_issue']],
    ['createIssue', ['github__create_issue']],
    ['github/create-issue', ['github__create_issue']],
    ['GitHub.Create.Issue', ['github__create_issue']],
    ['github__creat_isue', ['github__create_issue']],
    ['mcp__github__create_issue', ['github__create_issue']],
    ['readfile', ['read_file']],
    ['raed_file', ['read_file']],
    ['read', ['read_file', 'read_output']],
    ['file', ['read_file', 'write_file']],
    ['research_icp', ['agent__research_icp']],
    ['shel', ['shell']],
    ['teleport', []],
    ['', []],
    ['___', []],
  ])('%j finds %j', (wanted, found) => {
    expect(nearestNames(wanted, tools)).toEqual(found)
  })

  it('puts the nearer first and equals by name', () => {
    expect(nearestNames('type', ['typo', 'types', 'tape', 'Type'])).toEqual(['Type', 'tape', 'types'])
  })

  it('answers at most as many as asked for, each once', () => {
    expect(nearestNames('abc1', ['abc2', 'abc3', 'abc4', 'abc2', 'abc5'], 2)).toEqual(['abc2', 'abc3'])
    expect(nearestNames('abc1', ['abc2'], 0)).toEqual([])
  })

  it('finds nothing near in names of one or two letters that differ altogether', () => {
    expect(nearestNames('a', ['b', 'c'])).toEqual([])
    expect(nearestNames('ls', ['rm', 'cp'])).toEqual([])
  })

  it('keeps its cost when a page of text comes as a name', () => {
    const page = 'word_'.repeat(200_000)
    const before = process.cpuUsage()
    nearestNames(
      page,
      Array.from({ length: 200 }, (_, index) => `${page}${index}`),
    )
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(20_000)
  })

  it('always finds a name that is there, first, whatever its case and separators', () => {
    const part = fc.stringMatching(/^[a-z]{2,8}$/)
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), fc.array(part, { maxLength: 5 }), (parts, others) => {
        const name = parts.join('__')
        const [first] = nearestNames(parts.join('-').toUpperCase(), [...others.filter((other) => other !== parts.join('')), name])
        expect(first).toBe(name)
      }),
    )
  })

  it('answers only known names, whatever is asked', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (wanted, known) => {
        const found = nearestNames(wanted, known)
        expect(found.every((name) => known.includes(name))).toBe(true)
        expect(found.length).toBeLessThanOrEqual(3)
        expect(nearestNames(wanted, known.toReversed())).toEqual(found)
      }),
    )
  })
})
