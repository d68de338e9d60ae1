import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { leadsAround } from '../../../src/tools/sandbox/leads-around.ts'
import { stepsTo } from '../../../src/tools/sandbox/steps-to.ts'

let base: string
const at = (path: string): string => join(base, path)
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-steps-')))
  mkdirSync(at('a/b'), { recursive: true })
  writeFileSync(at('a/file'), '')
  symlinkSync('a', at('near'))
  symlinkSync(at('a/b'), at('far'))
  symlinkSync('../a/../near/b', at('a/winding'))
  symlinkSync('gone', at('broken'))
  symlinkSync('circle', at('circle'))
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

describe('the way that a path takes', () => {
  it.each<[path: string, end: string, links: readonly string[]]>([
    ['a/b', 'a/b', []],
    ['a//./b/', 'a/b', []],
    ['a/b/../file', 'a/file', []],
    ['near/b', 'a/b', ['near']],
    ['far', 'a/b', ['far']],
    ['far/../file', 'a/file', ['far']],
    ['a/winding', 'a/b', ['a/winding', 'near']],
  ])('%s', (path, end, links) => {
    const way = stepsTo(`${base}/${path}`)
    expect(way?.end).toBe(at(end))
    expect(way?.steps.filter(({ isLink }) => isLink).map((step) => step.path)).toEqual(links.map(at))
  })

  it.each(['gone', 'broken', 'circle', 'a/file/b'])('leads nowhere: %s', (path) => {
    expect(stepsTo(at(path))).toBeUndefined()
  })

  it('is the end of it only where it keeps out of all places', () => {
    expect(leadsAround([at('x')], at('far'))).toEqual([at('a/b')])
    expect(leadsAround([at('a')], at('far'))).toEqual([])
    expect(leadsAround([at('near')], at('near/b'))).toEqual([])
    expect(leadsAround([], at('circle'))).toEqual([])
  })
})
