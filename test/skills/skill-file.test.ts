import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { names, type Place, place, skill, told } from './place.ts'

const one = (content: string | Uint8Array, folder = 'pdf'): Place => place({ [`project/.agents/skills/${folder}/SKILL.md`]: content })
const heard = (content: string | Uint8Array, folder = 'pdf'): readonly string[] => {
  const here = one(content, folder)
  return told(here.find(), here).map((line) => line.replace(`project/.agents/skills/${folder}/`, ''))
}

describe('a SKILL.md', () => {
  it('may say all that agentskills.io knows', () => {
    const here = one(
      skill(
        'pdf',
        'Reads PDF files.',
        'license: MIT\ncompatibility: Needs poppler\nmetadata:\n  author: me\n  version: 1.0\n  tags: [a, b]\nallowed-tools: Bash(git add *) Read\n',
      ),
    )
    const found = here.find()
    expect([...found.details]).toEqual([
      [
        'pdf',
        {
          license: 'MIT',
          compatibility: 'Needs poppler',
          metadata: { author: 'me', version: '1', tags: '["a","b"]' },
          allowedTools: ['Bash(git add *)', 'Read'],
        },
      ],
    ])
    expect(found.problems).toEqual([
      {
        severity: 'info',
        place: `${here.project}/.agents/skills/pdf/SKILL.md:10:1`,
        line: 'allowed-tools: Bash(git add *) Read',
        message: '`allowed-tools` has no effect: a skill cannot grant tools',
        remedy: 'Give the agent the tools in `tools`, and allow their use by rules in `approvals`.',
        folder: `${here.project}/.agents/skills/pdf`,
      },
    ])
  })

  it('is named after its folder where it names itself not', () => {
    const found = one('---\ndescription: Reads.\n---\nRead.').find()
    expect([names(found), found.problems]).toEqual([['pdf'], []])
  })

  it('uses its own name if the folder has another, with a warning', () => {
    const here = one(skill('other'))
    const found = here.find()
    expect([names(found), told(found, here)]).toEqual([
      ['other'],
      ['warning project/.agents/skills/pdf/SKILL.md the skill is called `other`, and its folder `pdf`'],
    ])
  })

  it('is known by its bytes: another line end is another hash', () => {
    const [a] = one(skill('pdf')).find().skills
    const [b] = one(skill('pdf').replaceAll('\n', '\r\n')).find().skills
    expect(b).toMatchObject({ name: 'pdf', description: 'About pdf.' })
    expect(a?.hash).not.toBe(b?.hash)
  })

  it('may have a description with a colon, as many have, with a warning', () => {
    const here = one('---\nname: pdf\ndescription: Use when: asked\n---\nDo.')
    const found = here.find()
    expect([found.skills[0]?.description, told(found, here)]).toEqual([
      'Use when: asked',
      ['warning project/.agents/skills/pdf/SKILL.md:3:1 `description` is not valid YAML and is read as quoted text'],
    ])
  })

  it.each<[string, string | Uint8Array, readonly string[]]>([
    ['nothing', '', ['error SKILL.md:1:1 a SKILL.md must begin with settings between two lines of `---`']],
    ['no settings', '\n# Title', ['error SKILL.md:2:1 a SKILL.md must begin with settings between two lines of `---`']],
    ['no end', '---\nname: pdf\n', ['error SKILL.md:1:1 the settings that begin here have no end']],
    ['no description', '---\nname: pdf\n---\nDo.', ['error SKILL.md:1:1 `description` is missing']],
    ['no text', '---\nname: pdf\ndescription: [a]\n---\nDo.', ['error SKILL.md:3:14 `description` must be text, not a list']],
    ['a number', '---\nname: 12\ndescription: A.\n---\nDo.', ['error SKILL.md:2:7 `name` must be text, not the number 12']],
    ['a list', '---\n- name\n---\nDo.', ['error SKILL.md:2:1 the settings must be lines of `key: value`']],
    ['no YAML', '---\nname: [a\n---\nDo.', ['error SKILL.md:2:7 the settings are not valid YAML: this `[` is never closed']],
    ['aliases', '---\nname: &a pdf\ndescription: *a\n---\nDo.', ['error SKILL.md:2:10 the anchor', 'error SKILL.md:3:14 aliases are not']],
    [
      'twice',
      '---\nname: pdf\nname: pdf\ndescription: A.\n---\nDo.',
      ['error SKILL.md:3:1 the settings are not valid YAML: Map keys must'],
    ],
    ['a bad name', skill('PDF_files'), ['error SKILL.md `PDF_files` is not a valid skill name']],
    ['a long name', skill('a'.repeat(65)), ['error SKILL.md:2:7 `name` has 65 characters; the maximum is 64']],
    ['a long description', skill('pdf', 'a'.repeat(1_025)), ['error SKILL.md:3:14 `description` has 1025 characters; the maximum is 1024']],
    ['a long compatibility', skill('pdf', 'A.', `compatibility: ${'a'.repeat(501)}\n`), ['warning SKILL.md:4:16 `compatibility` has 501']],
    ['bad metadata', skill('pdf', 'A.', 'metadata: some\n'), ['warning SKILL.md:4:11 `metadata` must be a map, not "some"']],
    ['bad tools', skill('pdf', 'A.', 'allowed-tools: 3\n'), ['warning SKILL.md:4:16 `allowed-tools` must be names of tools, not the']],
    ['unknown keys', skill('pdf', 'A.', 'licence: MIT\n'), ['warning SKILL.md:4:1 unknown key `licence`: it has no']],
    ['no instructions', '---\nname: pdf\ndescription: A.\n---\n\n', ['warning SKILL.md:4:1 there are no instructions below the settings']],
    ['long settings', skill('pdf', 'A.', `license: ${'a'.repeat(33_000)}\n`), ['error SKILL.md:1:1 the settings are longer than 32768']],
    ['deep settings', `---\nname: ${'['.repeat(20_000)}\n---\nDo.`, ['error SKILL.md:2:']],
    ['a binary', Buffer.from([0x2d, 0x2d, 0x2d, 0, 1]), ['error SKILL.md SKILL.md is binary']],
    ['no UTF-8', Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff]), ['error SKILL.md SKILL.md is not UTF-8']],
    ['a huge file', skill('pdf').padEnd(262_145, 'x'), ['error SKILL.md SKILL.md has 262145 bytes; the maximum is 262144']],
  ])('with %s is reported at its place', (_what, content, expected) => {
    const lines = heard(content)
    expect(lines.length).toBe(expected.length)
    for (const [index, words] of expected.entries()) expect(lines[index]).toContain(words)
  })

  it('needs a name where its folder has none that will do', () => {
    expect(heard('---\ndescription: A.\n---\nDo.', 'My Skill')).toEqual(['error SKILL.md `My Skill` is not a valid skill name'])
  })

  it('of the largest size still loads', () => {
    expect(names(one(skill('pdf').padEnd(262_144, 'x')).find())).toEqual(['pdf'])
  })

  it('that is broken keeps no other from loading', () => {
    const here = one('---\nname: [\n---\n')
    here.write({ 'project/.agents/skills/good/SKILL.md': skill('good') })
    expect(names(here.find())).toEqual(['good'])
  })

  it('never makes the search throw, whatever is in it', () => {
    const here = one('')
    const text = fc.array(
      fc.constantFrom(
        '---\n',
        'name: ',
        'pdf',
        'description: ',
        '\n',
        '  ',
        ': ',
        '- ',
        '[',
        '{',
        '"',
        "'",
        '|',
        '&a ',
        '*a',
        '\t',
        '#',
        'é',
      ),
      {
        maxLength: 30,
      },
    )
    fc.assert(
      fc.property(text, (parts) => {
        here.write({ 'project/.agents/skills/pdf/SKILL.md': `---\n${parts.join('')}` })
        const { skills, problems } = here.find()
        return skills.length === 1 || problems.some(({ severity }) => severity === 'error')
      }),
      { numRuns: 150 },
    )
  })
})

describe('a SKILL.toml', () => {
  const face = (toml: string | Uint8Array): readonly [unknown, readonly string[]] => {
    const here = one(skill('pdf'))
    here.write({ 'project/.agents/skills/pdf/SKILL.toml': toml })
    const found = here.find()
    const [card] = found.skills
    return [
      card && { displayName: card.displayName, promptHint: card.promptHint },
      told(found, here).map((line) => line.replace('project/.agents/skills/pdf/', '')),
    ]
  }

  it.each([
    ['our', 'display_name = "PDF files"\nprompt_hint = "Read this PDF"\n'],
    ['another', '[interface]\ndisplay_name = "PDF files"\ndefault_prompt = "Read this PDF"\n'],
  ])('gives a skill a face in %s way', (_whose, toml) => {
    expect(face(toml)).toEqual([{ displayName: 'PDF files', promptHint: 'Read this PDF' }, []])
  })

  it.each<[string, string | Uint8Array, string]>([
    ['no TOML', 'display_name = ', 'warning SKILL.toml:1:16 SKILL.toml is not valid TOML'],
    ['unknown keys', 'icon = "a.png"', 'warning SKILL.toml `icon` in SKILL.toml has no effect'],
    ['values of another kind', 'display_name = 3', 'warning SKILL.toml `display_name` in SKILL.toml must be text of at most 100'],
    ['no table', 'interface = 3', 'warning SKILL.toml `interface` in SKILL.toml has no effect'],
    ['names of everything', '__proto__ = "x"', 'warning SKILL.toml `__proto__` in SKILL.toml has no effect'],
    ['too much', `# ${'x'.repeat(40_000)}`, 'warning SKILL.toml SKILL.toml is left out: it has 40002 bytes'],
  ])('with %s costs the skill nothing else', (_what, toml, expected) => {
    const [card, [line]] = face(toml)
    expect(card).toEqual({ displayName: undefined, promptHint: undefined })
    expect(line).toContain(expected)
  })
})
