import { describe, expect, it } from 'vitest'
import { seatbeltProfile } from '../../../src/tools/sandbox/seatbelt-sandbox.ts'

// As text only: it has not been run on a Mac.

describe('the profile for macOS (untested)', () => {
  it('denies first, then allows, then protects and hides', () => {
    const files = { readOnly: ['/w/.git/config'], absent: ['/w/.envrc'], hidden: ['/w/.ai-agent.env'] }
    const view = { emptied: ['/Users/me'], hidden: ['/Users/me/data'], readOnly: ['/Users/me/.nvm'] }
    expect(seatbeltProfile({ writable: ['/w', '/a "b"'], view, files: [files], scratch: '/tmp/own' })).toBe(`(version 1)
(deny default)
(allow process-exec process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow file-read*)
(allow file-write-data file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))
(deny file-read* file-write* (subpath "/Users/me"))
(allow file-read* (subpath "/Users/me/.nvm") (subpath "/w") (subpath "/a \\"b\\"") (subpath "/tmp/own"))
(allow file-write* (subpath "/w") (subpath "/a \\"b\\"") (subpath "/tmp/own"))
(deny file-write-setugid)
(deny file-write* (subpath "/w/.git/config") (subpath "/w/.envrc"))
(deny file-read* file-write* (subpath "/Users/me/data") (subpath "/w/.ai-agent.env"))
(deny network*)
`)
  })
})
