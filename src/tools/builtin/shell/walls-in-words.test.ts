import { expect, it } from 'vitest'
import { defaultSandboxPolicy } from '../../../contracts/index.ts'
import { wallsInWords } from './walls-in-words.ts'

const lost = 'What it writes to /tmp or to the home folder is gone when it ends.'

const words = (policy: Partial<typeof defaultSandboxPolicy> = {}) => wallsInWords({ ...defaultSandboxPolicy, ...policy })

it('tells the walls as they are', () => {
  expect(words()).toBe(`Usually it runs in a sandbox: it can write to the workspace only and has no network. ${lost}`)
  expect(words({ mode: 'off' })).toBe('Usually it runs without a sandbox, with all rights of the user who started this.')
  expect(words({ hosts: ['packages.example.com'] })).toContain(
    'workspace only and reaches no host but packages.example.com, over HTTP or HTTPS.',
  )
  expect(words({ hosts: ['a.test', '*.b.test'], writable: ['/data'] })).toBe(
    `Usually it runs in a sandbox: it can write to the workspace and /data only and reaches no host but a.test and *.b.test, over HTTP or HTTPS. ${lost}`,
  )
})

it('counts those that are too many to name', () => {
  const hosts = Array.from({ length: 30 }, (_, index) => `h${index}.test`)
  expect(words({ hosts })).toContain('h9.test and 20 more, over')
  expect(words({ hosts: hosts.slice(0, 11) })).toContain('h9.test and h10.test, over')
})
