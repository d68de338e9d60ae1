import { describe, expect, it } from 'vitest'
import { defaultSandboxPolicy } from '../../../contracts/index.ts'
import { sandboxDenial } from './sandbox-denial.ts'

const readOnly = ['.git/config', '.git/hooks', '.vscode']
const hit = (text: string, refusedHosts: readonly string[] = []) =>
  sandboxDenial({ text, refusedHosts, readOnly, policy: defaultSandboxPolicy })

describe('the sandbox is the reason', () => {
  it.each([
    "touch: cannot touch '/etc/x': Read-only file system",
    'bash: line 1: /etc/x: Read-only file system',
    "mv: cannot move 'a' to '.git': Device or resource busy",
    "Error: EROFS: read-only file system, open '/usr/x'",
    "OSError: [Errno 30] Read-only file system: '/usr/x'",
    'error: failed to write `/usr/x`: Read-only file system (os error 30)',
    'npm error code EROFS',
  ])('of: %s', (line) => {
    expect(hit(`building\n${line}\n`)).toEqual({
      class: 'sandbox',
      message: `The output suggests that the sandbox denied a write: ${line}`,
      remedy: expect.any(String),
    })
  })

  it.each([
    'curl: (6) Could not resolve host: example.com',
    'wget: unable to resolve host address ‘example.com’',
    "fatal: unable to access 'https://example.com/a.git/': Could not resolve host: example.com",
    'ssh: Could not resolve hostname github.com: Temporary failure in name resolution',
    'ping: example.com: Temporary failure in name resolution',
    'Error: getaddrinfo EAI_AGAIN example.com',
    '[cause]: Error: getaddrinfo ENOTFOUND example.com',
    'Error: connect ENETUNREACH 93.184.216.34:443 - Local (0.0.0.0:0)',
    'npm error request to https://packages.example.com/a failed, reason: getaddrinfo EAI_AGAIN packages.example.com',
    'npm ERR! code ENOTFOUND',
    'socket.gaierror: [Errno -3] Temporary failure in name resolution',
    'urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>',
    "E: Failed to fetch http://deb.debian.org/a  Temporary failure resolving 'deb.debian.org'",
    "[6] Couldn't resolve host name (Could not resolve host: index.crates.io)",
    'go: example.com/a@v1.0.0: Get "https://proxy.golang.org/a": dial tcp: lookup proxy.golang.org: no such host',
  ])('of a network error: %s', (line) => {
    expect(hit(`fetching\n${line}\n    at somewhere (file.js:1:1)\n`)?.message).toBe(
      `The output suggests that the sandbox denied network access (the sandbox has no network): ${line}`,
    )
  })

  it.each([
    ['error: could not write config file .git/config: Device or resource busy', '.git/config'],
    ['error: could not lock config file .git/config: Read-only file system', '.git/config'],
    ['bash: line 1: .git/hooks/pre-commit: Read-only file system', '.git/hooks'],
    ["Error: EROFS: read-only file system, open '/work/.vscode/tasks.json'", '.vscode'],
  ])('of %j, and names the file and how to change it', (line, file) => {
    expect(hit(`${line}\n`)).toEqual({
      class: 'sandbox',
      message: `"${file}" is read-only in the sandbox, because programs outside run or trust it: ${line}`,
      remedy:
        'Work without it, or change the file with write_file, which asks the user. The user may also allow this command to run outside the sandbox.',
    })
  })

  it.each([
    'OSError: [Errno 97] Address family not supported by protocol',
    'Error: listen EAFNOSUPPORT: address family not supported /tmp/a.sock',
    'nc: socket: Address family not supported by protocol',
  ])('of a Unix socket: %s', (line) => {
    expect(hit(`${line}\n`)?.message).toBe(`The output suggests that the sandbox denied a Unix socket; it has none: ${line}`)
  })

  it('where the proxy refused a host, whatever the output is', () => {
    expect(hit('', ['example.com:443 is not listed in sandbox.hosts'])?.message).toBe(
      'The sandbox refused connections: example.com:443 is not listed in sandbox.hosts.',
    )
  })
})

describe('the sandbox is not the reason', () => {
  it.each([
    '1 test failed: expected error ENOTFOUND to be retried',
    'expected "Could not resolve host" to equal "ok"',
    '✗ retries on EAI_AGAIN and ENETUNREACH (12 ms)',
    'FAIL  network is unreachable is told to the person',
    'AssertionError: expected EROFS to be told',
    'not ok 3 - a read-only file system is reported',
    'see the page about name resolution',
  ])('of: %s', (line) => {
    expect(hit(`${line}\n`)).toBeUndefined()
  })

  it('where the error was printed long before the end', () => {
    const long = Array.from({ length: 40 }, (_, index) => `ok ${index}`).join('\n')
    expect(hit(`curl: (6) Could not resolve host: example.com\n${long}\n1 test failed\n`)).toBeUndefined()
  })
})
