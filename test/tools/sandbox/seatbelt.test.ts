import { describe, expect, it } from 'vitest'
import { seatbeltProfile } from '../../../src/tools/sandbox/seatbelt-profile.ts'

// As text only: nobody has run it on a Mac.

describe('the profile for macOS (unproved)', () => {
  it('denies first, then allows, then guards and hides', () => {
    const guard = { planned: new Map(), fixed: [], readOnly: ['/w/.git/config'], hidden: ['/w/.ai-agent.env'], undo: async () => [] }
    const view = { emptied: ['/Users/me'], hidden: ['/Users/me/data'], special: [], readOnly: ['/Users/me/.nvm'] }
    expect(seatbeltProfile({ places: ['/w', '/a "b"'], view, guards: [guard], scratch: '/tmp/own' })).toBe(`(version 1)
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
(deny file-write* (subpath "/w/.git/config"))
(deny file-read* file-write* (subpath "/Users/me/data") (subpath "/w/.ai-agent.env"))
(deny network*)
`)
  })
})
