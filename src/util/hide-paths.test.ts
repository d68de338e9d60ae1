import { expect, it } from 'vitest'
import { pathHider } from './hide-paths.ts'

const { json, reveal } = pathHider({ '<home>': '/home/ann/', '<workspace>': '/home/ann/my "app"' })

it('replaces folders by names: the longest first, in JSON and URIs, and no others that begin alike', () => {
  const written = ['/home/ann/my "app"/a.txt', 'in /home/ann.', '/home/ann2/x', '/home/ann.bak', '/home/ann/my "app"2', 'no path']
  expect(json(written)).toEqual(['<workspace>/a.txt', 'in <home>.', '/home/ann2/x', '/home/ann.bak', '<home>/my "app"2', 'no path'])
  expect(
    json({ 'path:/home/ann/my "app"/': JSON.stringify({ at: '/home/ann/my "app"' }), uri: 'file:///home/ann/my%20%22app%22/a' }),
  ).toEqual({
    'path:<workspace>/': '{"at":"<workspace>"}',
    uri: 'file://<workspace>/a',
  })
})

it('returns an object without paths as it is, and keys as they were', () => {
  const plain = { a: ['b', 1, null], c: { d: true } }
  expect(json(plain)).toBe(plain)
  expect(pathHider({}).json(plain)).toBe(plain)
  expect(reveal('path:<workspace>/b.txt')).toBe('path:/home/ann/my "app"/b.txt')
})
