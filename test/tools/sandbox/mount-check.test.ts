import { describe, expect, it } from 'vitest'
import { type Mount, mountsOf, sourceOf } from '../../../src/tools/sandbox/mount-check.ts'

const table: readonly Mount[] = [
  { device: '8:1', root: '/', point: '/' },
  { device: '8:2', root: '/@home', point: '/home' },
  { device: '8:3', root: '/', point: '/home/ann/disk' },
  { device: '8:2', root: '/@home/ann', point: '/srv' },
  { device: '8:4', root: '/', point: '/mnt/a/b' },
  { device: '8:5', root: '/x', point: '/mnt/a' },
]

describe('the source of a mount', () => {
  it.each([
    ['/etc/passwd', '8:1', '/etc/passwd'],
    ['/', '8:1', '/'],
    ['/home', '8:2', '/@home'],
    ['/home/ann/work', '8:2', '/@home/ann/work'],
    ['/homes', '8:1', '/homes'],
    ['/home/ann/disk', '8:3', '/'],
    ['/home/ann/disk/a', '8:3', '/a'],
    ['/srv/work', '8:2', '/@home/ann/work'],
    ['/mnt/a/b/c', '8:5', '/x/b/c'],
  ])('%s', (path, device, root) => {
    expect(sourceOf(path, table)).toEqual({ device, root })
  })

  it.skipIf(process.platform !== 'linux')('is known of every path here', () => {
    const own = mountsOf('self')
    expect(own.length).toBeGreaterThan(0)
    expect(sourceOf(import.meta.dirname, own)?.root).toMatch(/test\/tools\/sandbox$/)
  })
})
