import { describe, expect, it } from 'vitest'
import { isInside } from './is-inside.ts'

describe('a path is inside of a folder', () => {
  it.each([
    ['/work/p', '/work/p'],
    ['/work/p', '/work/p/'],
    ['/work/p/', '/work/p/a'],
    ['/work/p', '/work/p/..bin'],
    ['/work/p', '/work/p/...'],
    ['/work/p', '/work/p/a/../b'],
    ['/work/p', '/work//./q/../p/a'],
    ['/', '/'],
    ['/', '/etc'],
    ['/', '/../etc'],
    ['C:\\Work', 'c:\\work\\a'],
    ['C:\\', 'C:/Work'],
  ])('%s holds %s', (folder, path) => {
    expect(isInside(folder, path)).toBe(true)
  })

  it.each([
    ['/work/p', '/work'],
    ['/work/p', '/'],
    ['/work/p', '/work/pq'],
    ['/work/p', '/work/p/../q'],
    ['/work/p', '/work/p/..'],
    ['/work/p', '/Work/p/a'],
    ['/work/p', 'work/p/a'],
    ['work/p', 'work/p/a'],
    ['/', ''],
    ['/work', '/work\\a'],
    ['C:\\Work', 'D:\\Work\\a'],
    ['C:\\Work', 'C:\\Works'],
    ['C:\\Work', '/work/a'],
  ])('%s does not hold %s', (folder, path) => {
    expect(isInside(folder, path)).toBe(false)
  })
})
