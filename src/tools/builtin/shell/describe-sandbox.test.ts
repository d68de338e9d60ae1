import { expect, it } from 'vitest'
import { defaultSandboxPolicy } from '../../../contracts/index.ts'
import { describeSandbox } from './shell-tool.ts'

const temporary = 'Files in /tmp and the home folder are deleted when it ends.'

const described = (policy: Partial<typeof defaultSandboxPolicy> = {}) => describeSandbox({ ...defaultSandboxPolicy, ...policy })

it('describes the sandbox', () => {
  expect(described()).toBe(`By default it runs in a sandbox: it can write only to the workspace, and has no network. ${temporary}`)
  expect(described({ mode: 'off' })).toBe('By default it runs without a sandbox, with all permissions of the user.')
  expect(described({ hosts: ['packages.example.com'] })).toContain(
    'workspace, and can reach only packages.example.com, over HTTP or HTTPS.',
  )
  expect(described({ hosts: ['a.test', '*.b.test'], writable: ['/data'] })).toBe(
    `By default it runs in a sandbox: it can write only to the workspace and /data, and can reach only a.test and *.b.test, over HTTP or HTTPS. ${temporary}`,
  )
})

it('shortens long lists', () => {
  const hosts = Array.from({ length: 30 }, (_, index) => `h${index}.test`)
  expect(described({ hosts })).toContain('h9.test and 20 more, over')
  expect(described({ hosts: hosts.slice(0, 11) })).toContain('h9.test and h10.test, over')
})
