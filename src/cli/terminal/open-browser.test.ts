import { expect, test } from 'vitest'
import { mayOpenBrowser } from './open-browser.ts'

test.each([
  [{ env: {}, window: 'terminal' }, true],
  [{ env: {}, window: 'plain', isSeen: true }, true],
  [{ env: {}, window: 'plain', isSeen: false }, false],
  [{ env: { CI: 'true' }, window: 'terminal' }, false],
  [{ env: { BROWSER: 'none' }, window: 'terminal' }, false],
  [{ env: { BROWSER: 'firefox', CI: '' }, window: 'terminal' }, true],
] as const)('a browser is opened for a person at a terminal only: %j', (host, expected) => {
  expect(mayOpenBrowser(host)).toBe(expected)
})
