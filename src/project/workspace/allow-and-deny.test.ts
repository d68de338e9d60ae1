import { expect, test } from 'vitest'
import { flagProblems } from './allow-and-deny.ts'

test('patterns behind a flag are what they are everywhere else', () => {
  const allow = ['write_file', 'shell(npm test)', 'shell(a\nb)', '*/x', 'wr*', 'unsandboxed(shell:*)', 'load_skill', 'agent__kid']
  expect(flagProblems({ allow, deny: allow, tools: ['agent__kid'], sources: [] })).toEqual([])
  expect(flagProblems({ allow: [], deny: ['shell(rm', 'shell(a\0b)', '', 'web_fetch'], tools: [], sources: [] })).toMatchObject([
    { place: '--deny shell(rm', message: 'Invalid pattern.' },
    { place: '--deny shell(a\0b)', message: 'Invalid pattern.' },
    { place: '--deny ', message: 'Invalid pattern.' },
  ])
})

test('an unknown tool is an error: a rule for it would protect nothing', () => {
  expect(flagProblems({ allow: ['shel(x)'], deny: ['writefile', 'agent__kit', 'zzz'], tools: ['agent__kid'], sources: [] })).toEqual([
    { place: '--allow shel(x)', message: 'No tool is called `shel`.', remedy: 'Did you mean `shell`?' },
    { place: '--deny writefile', message: 'No tool is called `writefile`.', remedy: 'Did you mean `write_file`, `edit_file`?' },
    { place: '--deny agent__kit', message: 'No agent is called `kit` here.', remedy: 'Did you mean `agent__kid`?' },
    { place: '--deny zzz', message: 'No tool is called `zzz`.', remedy: expect.stringContaining('The tools are shell, read_file,') },
  ])
})

test('a rule about leaving the sandbox that can fit nothing is an error, with the forms that work', () => {
  expect(flagProblems({ allow: [], deny: ['unsandboxed(shell)', 'unsandboxed', 'unsandboxed(shell:*)'], tools: [], sources: [] })).toEqual([
    {
      place: '--deny unsandboxed(shell)',
      message: '`unsandboxed(shell)` matches nothing.',
      remedy: expect.stringContaining('unsandboxed(shell:*) for any of shell'),
    },
  ])
})
