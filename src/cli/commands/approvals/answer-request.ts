import {
  ApprovalAnsweredError,
  type ApprovalDecision,
  type ApprovalId,
  answeredText,
  type GivenAnswer,
  type JsonSchema,
  type Problem,
  type Store,
  type TreeId,
  TroupeError,
} from '../../../contracts/index.ts'
import { contentProblem } from '../../../policy/form-fields.ts'
import { redactDecision } from '../../../policy/grants.ts'
import { dataDirFlag, resumeHint, sessionPlace, storeName, withSessions } from '../../../project/index.ts'
import { findRequest, storeAnswer } from '../../../runtime/index.ts'
import { parseJsonObject } from '../../../util/json-values.ts'
import { requestSummary } from '../../../view/index.ts'
import type { ApprovalsInvocation } from '../../arguments/project-invocations.ts'
import { exactLine } from '../../terminal/exact-text.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice } from '../../terminal/print-messages.ts'
import type { Host } from '../../terminal/process-host.ts'
import { answerSummary, type GrantChoices, grantChoicesOf, grantOf, labelsLine, parseDecision } from '../asking/answer-choices.ts'
import { auditAction } from '../audit/audit-action.ts'
import { findSession, type SessionPlace, unknownSession } from '../sessions/find-session.ts'
import { redactorFor } from '../sessions/journal-redactor.ts'
import { answerCommand } from '../sessions/next-commands.ts'
import { type WaitingRequest, type WaitingSession, waitingSession } from '../sessions/waiting-requests.ts'

const byCommand = 'troupe approvals answer'

/**
 * `troupe approvals answer`: adds an answer to the inbox of a session. Nothing runs: the process that drives the session
 * takes it, now or on resume.
 */
export async function answerRequest(invocation: ApprovalsInvocation, host: Host): Promise<number> {
  const { output, display, dataDir, named, content } = invocation
  const [id, ...typed] = named
  const words = content === undefined ? typed : [content]
  if (content !== undefined && typed.length > 0)
    throw new TroupeError('usage', 'There are two answers.', { remedy: 'Pass either --content or an answer.' })
  if (id === undefined || words.length === 0)
    throw new TroupeError('usage', id === undefined ? 'No session or request is named.' : 'The answer is missing.', {
      remedy: 'Name a session or request from approvals list and the answer: troupe approvals answer ID yes',
    })
  const store = await sessionPlace(invocation, host)
  const { folder } = store
  const answered = await withSessions<Answered | undefined>(store, undefined, (opened) =>
    answer(opened, { id, typed: words.join(' '), host, place: { folder: storeName(store), dataDir } }),
  )
  if (!answered) throw unknownSession(id, { folder: storeName(store), dataDir })
  const { waiting, request, driver, first } = answered
  const goOn = resumeHint(waiting, { here: process.cwd(), folder, dataDir })
  const left = waiting.requests.filter((each) => !each.answer && each.request.id !== request.id)
  if (output === 'json') {
    const { decision } = answered
    const grant = grantOf(decision, request)
    const granted = grant && { granted: grant.granted }
    const document = {
      sessionId: waiting.run.treeId,
      approvalId: request.id,
      decision,
      ...(first && { first }),
      ...granted,
      waiting: left.length,
      driven: driver !== undefined,
      ...(driver !== undefined && { driver }),
      goOn,
    }
    await printDocument(document, host)
    return exitCodes.done.code
  }
  await host.stdout.prose([
    first
      ? exactLine(`Already answered: ${answeredText(first)}. Nothing has changed.`)
      : `Answered: ${answerSummary(request, answered.decision)}`,
  ])
  if (left.length > 0)
    await printNotice(
      `${left.length === 1 ? 'One more answer is' : `${left.length} more answers are`} required: troupe approvals list${dataDirFlag(dataDir)}`,
      { host, display },
    )
  const isServed = answered.waiting.origin?.command === 'serve'
  const resume = isServed
    ? `A running troupe serve of its folder continues the session. If none runs: ${goOn}`
    : `Nothing runs yet. Resume the session: ${goOn}`
  await printNotice(driver === undefined ? resume : `The session is running (${driver}) and takes the answer.`, { host, display })
  return exitCodes.done.code
}

interface Answered {
  readonly waiting: WaitingSession
  readonly request: WaitingRequest['request']
  readonly decision: ApprovalDecision
  /** The request had the same answer already. */
  readonly first: GivenAnswer | undefined
  /** The process that drives the session and takes the answer, for people. */
  readonly driver: string | undefined
}

interface AnswerInput {
  readonly id: string
  readonly typed: string
  readonly host: Host
  readonly place: SessionPlace
}

async function answer(store: Store, { id, typed, host, place }: AnswerInput): Promise<Answered> {
  // A request is named after its session: `ID:t1.s1.1/call`.
  const [name = ''] = id.split(/[:/]/, 1)
  const run = (await store.trees.get(id as TreeId)) ?? (await findSession(store, name, place))
  const { dataDir } = place
  const waiting = await waitingSession(store, run)
  const request = await namedRequest(store, waiting, { id: run.treeId === id ? id : `${run.treeId}${id.slice(name.length)}`, dataDir })
  const decided = parseDecision(typed, request)
  if (!decided)
    throw new TroupeError('usage', `${JSON.stringify(typed)} is not a valid answer to: ${exactLine(requestSummary(request))}`, {
      problems: request.question?.form ? [contentProblemOf(request.question.form, typed)] : grantChoicesOf(request).map(grantProblem),
      remedy: answerRemedy(request),
    })
  // The answer is stored, so secrets of the run must not be in it.
  const decision = redactDecision(await redactorFor(waiting, host), decided)
  const approvalId = request.id
  const stored = await storeAnswer(store, run.treeId, { kind: 'approval', approvalId, decision, by: byCommand }).catch((error: unknown) => {
    throw error instanceof ApprovalAnsweredError ? alreadyAnswered(error, { request, treeId: run.treeId, dataDir }) : error
  })
  const first = 'first' in stored ? stored.first : undefined
  if (!first)
    await auditAction(store, {
      action: `approval.${decision.kind}`,
      sessionId: run.treeId,
      approvalId,
      ...(decision.kind === 'approve' && { breadth: decision.breadth }),
    })
  return { waiting, request, decision, first, driver: await store.trees.driver(run.treeId) }
}

function contentProblemOf(form: JsonSchema, typed: string): Problem {
  const content = parseJsonObject(typed)
  return {
    place: '--content',
    message: content ? (contentProblem(form, content) ?? '') : 'expected a JSON object with the fields of the form',
  }
}

/** The first request of a session, if all of them are answered. If the session went on since, the request is read from its journal. */
async function namedRequest(
  store: Store,
  { run, requests }: WaitingSession,
  { id, dataDir }: { readonly id: string; readonly dataDir: string | undefined },
): Promise<WaitingRequest['request']> {
  const named = requests.find(({ request }) => request.id === id)
  if (named) return named.request
  const open = requests.filter(({ answer: given }) => !given)
  const [only = requests[0], ...others] = open
  if (id === run.treeId && only && others.length === 0) return only.request
  if (id === run.treeId && only)
    throw new TroupeError('usage', `The session ${id} has ${open.length} open requests.`, {
      problems: open.map((each) => ({ ...requestProblem(each), remedy: answerCommand(each.request.id, each.request, dataDir) })),
      remedy: 'Name the request to answer.',
    })
  const past = id === run.treeId ? undefined : await findRequest(store, run.treeId, { approvalId: id as ApprovalId }).catch(unlessUnknown)
  if (past) return past.request
  throw new TroupeError(
    'usage',
    id === run.treeId ? `The session ${id} has no open request.` : `The session ${run.treeId} has no open request ${id}.`,
    {
      problems: open.map(requestProblem),
      remedy: 'List open requests: troupe approvals list --everywhere',
    },
  )
}

function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof TroupeError) || error.code !== 'approval_unknown') throw error
}

const requestProblem = ({ request }: WaitingRequest) => ({ place: request.id, message: exactLine(requestSummary(request)) })

const alreadyAnswered = (
  { message }: ApprovalAnsweredError,
  {
    request,
    treeId,
    dataDir,
  }: { readonly request: WaitingRequest['request']; readonly treeId: TreeId; readonly dataDir: string | undefined },
): TroupeError =>
  new TroupeError('approval_answered', exactLine(`${message} The request: ${requestSummary(request)}`), {
    remedy: `An answer cannot be changed. Resume the session, as troupe approvals list shows, or end it: troupe approvals drop ${treeId}${dataDirFlag(dataDir)}`,
  })

const grantProblem = ({ session, project, labels }: GrantChoices) => ({
  place: `${session.word} ${project.word}`,
  message: labelsLine(labels),
})

function answerRemedy(request: WaitingRequest['request']): string {
  if (request.question?.form) return `Pass the fields with --content '{"name": "value"}', or no, cancel, or x to end the run.`
  if (request.question?.url !== undefined) return 'Answer yes when you are done, no, cancel, or x to end the run.'
  if (request.question)
    return (request.question.options ?? []).length > 0 ? 'Answer with an option, its number or any text.' : 'Answer with any text.'
  const grants = grantChoicesOf(request)
  const wordsOf = (choice: 'session' | 'project'): string =>
    `${grants.map((breadth) => breadth[choice].word).join(', ')} for this ${choice}`
  const more = grants.length > 0 ? `; to approve more, ${wordsOf('session')}, ${wordsOf('project')}` : ''
  return `Answer yes, no, no REASON, or x to end the run${more}.`
}
