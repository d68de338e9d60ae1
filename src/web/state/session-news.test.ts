import { expect, test } from 'vitest'
import type { SessionDocument } from '../api/documents.ts'
import { sessionNews } from './session-news.ts'

type Status = SessionDocument['status']
const state = (status: Status, openRequests = 0) => ({ status, openRequests })

test.each<[string, ReturnType<typeof state> | undefined, ReturnType<typeof state>, string | undefined]>([
  ['a session that was not known', undefined, state('completed'), undefined],
  ['one that goes on', state('running'), state('running'), undefined],
  ['one that asks', state('running'), state('running', 1), 'Needs your decision.'],
  ['one that asks once more', state('suspended', 1), state('suspended', 2), 'Needs your decision.'],
  ['one that was answered', state('suspended', 1), state('running'), undefined],
  ['one of whose requests one was answered', state('running', 2), state('running', 1), undefined],
  ['an end', state('running'), state('completed'), 'Has ended.'],
  ['an end after an answer', state('suspended', 1), state('completed'), 'Has ended.'],
  ['a part', state('running'), state('partial'), 'Has ended with a part of the answer.'],
  ['a failure', state('running'), state('failed'), 'Has failed.'],
  ['a stop by a person', state('running'), state('interrupted'), undefined],
  ['a new title', state('completed'), state('completed'), undefined],
])('%s', (...[, before, now, expected]) => {
  expect(sessionNews(before, now)).toBe(expected)
})
