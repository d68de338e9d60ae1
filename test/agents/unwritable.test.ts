import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { troupe } from './command.ts'
import { child, folder } from './folder.ts'

const fault = 'fault of Troupe itself'
const waits = { providers: { lab: { baseURL: 'https://lab.example/v1' } } }

describe('troupe init', () => {
  const places = ['file/x/y', '/dev/null/x', ...(process.platform === 'linux' ? ['/proc/x', '/proc/x/y'] : [])]
  test.each(places)('where nothing can be made says where and why: %s', async (place) => {
    const { path } = folder({ file: 'x' })
    const { code, stdout, stderr } = await troupe(path, ['init', place, '--yes'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('Nothing was created.')
    expect(stderr).toContain(place)
    expect(stderr).toContain('→ Choose another folder: troupe init DIR')
    expect(stderr).not.toContain(fault)
    expect(existsSync(join(path, '.state'))).toBe(false)
  })

  test('makes nothing where the list of trust cannot be kept, or is broken', async () => {
    const { path } = folder({ file: 'x', 'broken/troupe/trust.json': '{bad' })
    mkdirSync(join(path, 'odd', 'troupe', 'trust.json'), { recursive: true })
    for (const state of ['file', 'broken', 'odd']) {
      const { code, stderr } = await troupe(path, ['init', 'new/trips', '--yes'], { XDG_STATE_HOME: join(path, state) })
      expect([state, code]).toEqual([state, 2])
      expect(stderr).toContain(join(path, state, 'troupe', 'trust.json'))
      expect(stderr).not.toContain(fault)
      expect(existsSync(join(path, 'new'))).toBe(false)
    }
  })

  test.runIf(process.platform === 'linux')('takes away what it has made where the list of trust cannot be written after all', async () => {
    const { path } = folder({ 'kept/mine.txt': 'x' })
    const { code, stderr } = await troupe(path, ['init', 'kept', '--yes'], { XDG_STATE_HOME: '/proc/none' })
    expect(code).toBe(2)
    expect(stderr).toContain('/proc/none/troupe/trust.json')
    expect(readdirSync(join(path, 'kept'))).toEqual(['mine.txt'])
  })
})

describe('troupe trust', () => {
  test('where its list cannot be written says where and why', async () => {
    const { path } = folder({ 'a.ai': child(), '.ai-agent.json': waits, file: 'x' })
    const env = { XDG_STATE_HOME: join(path, 'file') }
    for (const words of [
      ['trust', '--all'],
      ['trust', '.ai-agent.json'],
      ['run', 'a.ai', 'Hi', '--model', 'rehearsal', '--trust'],
    ]) {
      const { code, stderr } = await troupe(path, words, env)
      expect([words[1], code]).toEqual([words[1], 2])
      expect(stderr).toContain(join(path, 'file', 'troupe', 'trust.json'))
      expect(stderr).toContain('XDG_STATE_HOME')
      expect(stderr).not.toContain(fault)
    }
  })

  test.each([
    ['the list of trust is broken', [], 'trust.json'],
    ['the file behind --config is not there', ['--config', 'none.json'], 'none.json'],
  ])('fails where %s', async (_, more, cause) => {
    const { path } = folder({ '.ai-agent.json': waits, 'broken/troupe/trust.json': '{bad' })
    const env: { readonly [name: string]: string } = more.length === 0 ? { XDG_STATE_HOME: join(path, 'broken') } : {}
    for (const form of [[], ['--all'], ['--all', '--json']]) {
      const { code, stdout, stderr } = await troupe(path, ['trust', ...form, ...more], env)
      expect(code).toBe(2)
      expect(stderr).toContain(cause)
      if (form.includes('--json')) expect(JSON.parse(stdout)).toMatchObject({ ok: false, exitCode: 2 })
      else expect(stdout).toBe('')
    }
  })
})
