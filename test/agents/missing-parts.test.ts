import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { troupe } from './command.ts'
import { folder } from './folder.ts'

// What agents are to act with, and is not there: told before a run finds out.

const agent = (settings: string) => `---\ndescription: x\nmodels: rehearsal\n${settings}\n---\nDo it.\n`
const skill = (name: string) => `---\nname: ${name}\ndescription: How it is done.\n---\nDo it.\n`
const configured = {
  hooks: [
    { name: 'module', on: ['before_call'], module: './absent.mjs', onFailure: 'closed' },
    { name: 'program', on: ['before_call'], tools: ['shel'], command: ['./absent.sh'], onFailure: 'closed' },
    { name: 'there', on: ['before_call'], module: './there.mjs', onFailure: 'closed' },
  ],
  sandbox: { writable: ['./absent'] },
  skills: { directories: ['./nowhere'] },
}

describe('missing parts', () => {
  const { path } = folder({
    'a.ai': agent('skills: [leter]\ntools: [shell]'),
    'mine.json': configured,
    'there.mjs':
      'import { writeFileSync } from "node:fs"\nwriteFileSync("loaded", "")\nexport const beforeCall = () => ({ kind: "continue" })\n',
    '.agents/skills/letter/SKILL.md': skill('letter'),
    '.agents/skills/broken/SKILL.md': 'nothing',
  })
  const told = [
    /a\.ai:\d+:\d+:? +[Tt]here is no skill `leter`/,
    /[Tt]he hook "module" cannot be used: the file \S+absent\.mjs does not exist/,
    /[Tt]he hook "program" cannot be used: program "\.\/absent\.sh" not found/,
    /`tools` of the hook "program" is wrong: no tool is called `shel`/,
    /absent:? +[Tt]his folder of `sandbox\.writable` in the configuration does not exist/,
  ]
  const warned = [
    /nowhere:? +[Tt]his folder of `skills\.directories` in the configuration does not exist/,
    /broken\/SKILL\.md:1:1:? +[Aa] SKILL\.md must begin with settings/,
  ]

  test('is found by validate and by doctor, which run nothing', async () => {
    const [validated, doctor] = await Promise.all([
      troupe(path, ['validate', '--config', 'mine.json']),
      troupe(path, ['doctor', '--config', 'mine.json', '--json']),
    ])
    expect(validated.code).toBe(2)
    for (const words of [...told, ...warned]) expect(validated.stderr).toMatch(words)
    const { ok, checks } = JSON.parse(doctor.stdout) as { ok: boolean; checks: readonly { status: string; message: string }[] }
    expect(ok).toBe(false)
    const saying = (status: string) => checks.filter((check) => check.status === status).map(({ message }) => message)
    for (const words of told) expect(saying('fail')).toContainEqual(expect.stringMatching(words))
    for (const words of warned) expect(saying('warning')).toContainEqual(expect.stringMatching(words))
    expect(existsSync(join(path, 'loaded'))).toBe(false)
  })

  test('of skills is looked for from the folder of the agent, too', async () => {
    const outer = folder({ 'p/a.ai': agent('skills: [letter]'), 'p/.agents/skills/letter/SKILL.md': skill('letter') })
    expect(await troupe(outer.path, ['validate', join('p', 'a.ai')])).toMatchObject({ code: 0 })
  })
})
