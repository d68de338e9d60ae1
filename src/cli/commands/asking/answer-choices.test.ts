import { describe, expect, test } from 'vitest'
import type { ApprovalDecision, ApprovalId, ApprovalRequest, ItemId } from '../../../contracts/index.ts'
import { answerHint, grantChoicesOf, grantOf, parseDecision } from './answer-choices.ts'

const request: ApprovalRequest = {
  id: 'a' as ApprovalId,
  itemId: 't1.s1.1' as ItemId,
  agentPath: 'root',
  tool: 'write_file',
  summary: 'Write a.txt',
  input: { path: 'a.txt' },
  keys: [{ key: 'path:/a.txt', label: 'a.txt' }],
  wider: [
    { key: 'path:/', label: 'any file', isPrefix: true },
    { key: 'tool:write_file', label: 'any call of write_file' },
  ],
  scope: 'call',
}

describe('a permission', () => {
  test.each<[string, ApprovalDecision | undefined]>([
    ['y', { kind: 'approve', breadth: 'once' }],
    [' YES ', { kind: 'approve', breadth: 'once' }],
    ['s', { kind: 'approve', breadth: 'session' }],
    ['p', { kind: 'approve', breadth: 'project' }],
    ['s1', { kind: 'approve', breadth: 'session', key: 'path:/' }],
    ['P2', { kind: 'approve', breadth: 'project', key: 'tool:write_file' }],
    ['n', { kind: 'deny' }],
    ['no', { kind: 'deny' }],
    ['n use  b.txt', { kind: 'deny', feedback: 'use  b.txt' }],
    ['no, thanks', { kind: 'deny', feedback: 'thanks' }],
    ['No: it is mine', { kind: 'deny', feedback: 'it is mine' }],
    ['n, not there', { kind: 'deny', feedback: 'not there' }],
    ['no - later', { kind: 'deny', feedback: 'later' }],
    ['no.', { kind: 'deny' }],
    ['not now', undefined],
    ['x', { kind: 'abort' }],
    ['', undefined],
    ['s3', undefined],
    ['s0', undefined],
    ['yy', undefined],
    ['y please', undefined],
    ['yes and no', undefined],
    ['never', undefined],
    ['x now', undefined],
  ])('%j', (line, decision) => {
    expect(parseDecision(line, request)).toEqual(decision)
  })

  test('an invalid answer gets the list of valid words', () => {
    expect(answerHint(request)).toBe('Type y, n, no REASON, x, s, p, s1, p1, s2 or p2.')
    const { wider: _, ...bare } = request
    expect(answerHint({ ...bare, keys: [] })).toBe('Type y, n, no REASON or x.')
  })

  test('what an answer grants beyond this once', () => {
    expect(grantOf({ kind: 'approve', breadth: 'once' }, request)).toBeUndefined()
    expect(grantOf({ kind: 'deny' }, request)).toBeUndefined()
    expect(grantOf({ kind: 'approve', breadth: 'session' }, request)).toEqual({
      breadth: 'session',
      granted: [{ key: 'path:/a.txt', label: 'a.txt' }],
    })
    expect(grantOf({ kind: 'approve', breadth: 'project', key: 'path:/' }, request)).toEqual({
      breadth: 'project',
      granted: [{ key: 'path:/', label: 'any file' }],
    })
  })

  test('where nothing could be remembered, nothing is offered to be', () => {
    const { wider: _, ...bare } = request
    expect(grantChoicesOf({ ...bare, keys: [] })).toEqual([])
    expect(parseDecision('s', { ...bare, keys: [] })).toBeUndefined()
    expect(parseDecision('p', { ...bare, keys: [] })).toBeUndefined()
  })
})

describe('a question', () => {
  const asks = (options?: readonly string[]): ApprovalRequest => ({
    ...request,
    scope: 'question',
    question: { text: 'Which?', ...(options && { options }) },
  })
  test('an invalid answer gets the list of valid choices', () => {
    expect(answerHint(asks())).toBe('Type an answer.')
    expect(answerHint(asks(['red', 'blue']))).toBe('Type a number from 1 to 2, or your own answer.')
  })
  test.each<[string, readonly string[] | undefined, string | undefined]>([
    ['2', ['red', 'blue'], 'blue'],
    [' green ', ['red', 'blue'], 'green'],
    ['3', ['2', '3', '5'], '3'],
    ['7', ['red', 'blue'], undefined],
    ['0', ['red', 'blue'], undefined],
    ['7', undefined, '7'],
    ['y', ['red', 'blue'], 'y'],
    ['  ', undefined, undefined],
  ])('%j to %j', (line, options, text) => {
    expect(parseDecision(line, asks(options))).toEqual(text === undefined ? undefined : { kind: 'answer', text })
  })
})
