import { type ApprovalDecision, type ClientId, type Store, type TreeEntry, type TreeId, TroupeError } from '../../contracts/index.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import type { Redactor } from '../../util/redact.ts'
import type { ApprovalsInvocation } from '../agents-invocations.ts'
import { exactLine } from '../exact-text.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Host } from '../host.ts'
import { safeJson } from '../safe-json.ts'
import { tellNotice } from '../tell.ts'
import { requestSummary } from '../tree/request-summary.ts'
import { answerCommand, dataDirFlag } from './answer-command.ts'
import { answeredText, labelsLine } from './answered-text.ts'
import { answerWords, type Breadth, breadthsOf, decisionOf, grantOf } from './ask-terms.ts'
import { goOnCommand } from './go-on-command.ts'
import { redactorFor } from './known-secrets.ts'
import { sessionFolder, withSessions } from './session-store.ts'
import { type WaitingRequest, type WaitingSession, waitingSession, waitingSessions } from './waiting-requests.ts'

/** Who has decided, for the journal. */
const byCommand = 'troupe approvals answer'

/**
 * `troupe approvals answer`: what a person says at a terminal, said from anywhere. It goes into the inbox of the run and
 * nothing runs: whoever goes on with the run, or drives it at this moment, finds it there.
 */
export async function answerRequest(invocation: ApprovalsInvocation, host: Host): Promise<number> {
  const { output, wishes, dataDir, named } = invocation
  const [id, ...words] = named
  if (id === undefined || words.length === 0)
    throw new TroupeError('usage', id === undefined ? 'Nothing is named that could be answered.' : 'The answer is missing.', {
      remedy: 'Name the session, or its request, as approvals list shows it, and the answer: troupe approvals answer ID yes',
    })
  const folder = await sessionFolder(invocation, host)
  const answered = await withSessions<Answered | undefined>(folder, undefined, (store) =>
    answer(store, { id, said: words.join(' '), host, dataDir }),
  )
  if (!answered) throw unknown(id, [])
  const { waiting, request, driven } = answered
  const { code } = exitCodes.done
  const goOn = goOnCommand(waiting, { here: process.cwd(), folder, dataDir })
  const left = waiting.requests.filter((each) => !each.answer && each.request.id !== request.request.id)
  if (output === 'json') {
    const { decision } = answered
    const grant = grantOf(decision, request.request)
    const granted = grant && { granted: grant.granted }
    const document = {
      sessionId: waiting.run.treeId,
      approvalId: request.request.id,
      decision,
      ...granted,
      waiting: left.length,
      driven,
      goOn,
    }
    await host.stdout.line(safeJson({ ok: true, ...document, exitCode: code }))
    return code
  }
  await host.stdout.prose([`Answered: ${answeredText(request.request, answered.decision)}`])
  if (left.length > 0)
    await tellNotice(
      `It waits for ${left.length === 1 ? 'one more answer' : `${left.length} more answers`}: troupe approvals list${dataDirFlag(dataDir)}`,
      { host, wishes },
    )
  await tellNotice(driven ? 'A process drives the session and takes the answer.' : `Go on: ${goOn}`, { host, wishes })
  return code
}

interface Answered {
  readonly waiting: WaitingSession
  readonly request: WaitingRequest
  readonly decision: ApprovalDecision
  /** Whether a process drives the run, and takes the answer. */
  readonly driven: boolean
}

interface Given {
  readonly id: string
  readonly said: string
  readonly host: Host
  readonly dataDir: string | undefined
}

async function answer(store: Store, { id, said, host, dataDir }: Given): Promise<Answered> {
  const run = await runOf(store, id)
  if (!run) throw unknown(id, await waitingSessions(store))
  const waiting = await waitingSession(store, run)
  const request = requestIn(waiting, id, dataDir)
  const meant = decisionOf(said, request.request)
  if (!meant)
    throw new TroupeError('usage', `${JSON.stringify(said)} is no answer to it: ${exactLine(requestSummary(request.request))}`, {
      problems: breadthsOf(request.request).map(asGranting),
      remedy: wordsFor(request),
    })
  // It is kept: nothing that the run would take out of it may be in it.
  const decision = withoutSecrets(meant, await redactorFor(waiting, host))
  const approvalId = request.request.id
  // One answer for each request, whoever is quicker: a repeated one is taken once.
  const { repeated } = await store.inbox.add(run.treeId, `answer ${approvalId}` as ClientId, {
    kind: 'approval',
    approvalId,
    decision,
    by: byCommand,
  })
  if (repeated) throw alreadyAnswered(request, run.treeId, dataDir)
  return { waiting, request, decision, driven: (await store.trees.driver(run.treeId)) !== undefined }
}

function withoutSecrets(decision: ApprovalDecision, { text }: Redactor): ApprovalDecision {
  if (decision.kind === 'answer') return { ...decision, text: text(decision.text) }
  return decision.kind === 'deny' && decision.feedback !== undefined ? { ...decision, feedback: text(decision.feedback) } : decision
}

/** A request is named after its run. */
async function runOf({ trees }: Pick<Store, 'trees'>, id: string): Promise<TreeEntry | undefined> {
  return (await trees.get(id as TreeId)) ?? (await trees.get(id.split(/[:/]/, 1)[0] as TreeId))
}

function requestIn({ run, requests }: WaitingSession, id: string, dataDir: string | undefined): WaitingRequest {
  const named = requests.find(({ request }) => request.id === id)
  if (named?.answer) throw alreadyAnswered(named, run.treeId, dataDir)
  if (named) return named
  const open = requests.filter(({ answer: given }) => !given)
  const [only, ...others] = open
  const [answered] = requests
  if (id === run.treeId && !only && answered) throw alreadyAnswered(answered, run.treeId, dataDir)
  if (id !== run.treeId || !only)
    throw new TroupeError(
      'usage',
      id === run.treeId ? `The session ${id} waits for nothing.` : `The session ${run.treeId} does not ask ${id}.`,
      {
        problems: open.map(asProblem),
        remedy: 'See what waits: troupe approvals list --everywhere',
      },
    )
  if (others.length === 0) return only
  throw new TroupeError('usage', `The session ${id} waits for ${open.length} answers.`, {
    problems: open.map((each) => ({ ...asProblem(each), remedy: answerCommand(each.request.id, each.request, dataDir) })),
    remedy: 'Name the one that you answer.',
  })
}

const asProblem = ({ request }: WaitingRequest) => ({ place: request.id, message: exactLine(requestSummary(request)) })

/** The first answer counts, and whoever goes on takes it up: until then the run can be dropped. */
const alreadyAnswered = ({ request, answer }: WaitingRequest, treeId: TreeId, dataDir: string | undefined): TroupeError =>
  new TroupeError(
    'usage',
    `It was answered already${answer ? ` (${answerWords[answer.kind]})` : ''}: ${exactLine(requestSummary(request))}`,
    {
      remedy: `An answer cannot be changed. Resume the session, as troupe approvals list shows, or end it: troupe approvals drop ${treeId}${dataDirFlag(dataDir)}`,
    },
  )

/** What the words for more than this once would grant, whole. */
const asGranting = ({ session, project, labels }: Breadth) => ({
  place: `${session.word} ${project.word}`,
  message: labelsLine(labels),
})

/** As at a terminal. */
function wordsFor({ request }: WaitingRequest): string {
  if (request.question) return (request.question.options ?? []).length > 0 ? 'Say an option or its number, or a text.' : 'Say a text.'
  const breadths = breadthsOf(request)
  const kept = (choice: 'session' | 'project'): string => `${breadths.map((breadth) => breadth[choice].word).join(', ')} for this ${choice}`
  const more = breadths.length > 0 ? `; for what stands above, ${kept('session')}, ${kept('project')}` : ''
  return `Say yes, no, no and why, x to end the run${more}.`
}

function unknown(id: string, waiting: readonly WaitingSession[]): TroupeError {
  const ids = waiting.map(({ run }) => run.treeId as string)
  const [near] = nearestNames(id, ids)
  return new TroupeError('usage', `There is no session ${id} in that folder.`, {
    remedy: near !== undefined ? `Did you mean ${near}?` : 'See what waits: troupe approvals list --everywhere',
  })
}
