import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resolveSteps, trustedPath } from '../../src/tools/trusted-path.ts'

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

describe('a path', () => {
  it.each<[path: string, end: string, links: readonly string[]]>([
    ['a/b', 'a/b', []],
    ['a//./b/', 'a/b', []],
    ['a/b/../file', 'a/file', []],
    ['near/b', 'a/b', ['near']],
    ['far', 'a/b', ['far']],
    ['far/../file', 'a/file', ['far']],
    ['a/winding', 'a/b', ['a/winding', 'near']],
  ])('%s', (path, end, links) => {
    const way = resolveSteps(`${base}/${path}`)
    expect(way?.end).toBe(at(end))
    expect(way?.steps.filter(({ isLink }) => isLink).map((step) => step.path)).toEqual(links.map(at))
  })

  it.each(['gone', 'broken', 'circle', 'a/file/b'])('leads nowhere: %s', (path) => {
    expect(resolveSteps(at(path))).toBeUndefined()
  })

  it('is trusted only if no part of it is in a writable folder', () => {
    expect(trustedPath([at('x')], at('far'))).toEqual([at('a/b')])
    expect(trustedPath([at('a')], at('far'))).toEqual([])
    expect(trustedPath([at('near')], at('near/b'))).toEqual([])
    expect(trustedPath([], at('circle'))).toEqual([])
  })
})
