import type { AgentDescription } from '../../contracts/index.ts'
import { hashOf } from '../state/hash-route.ts'
import { agentGraph, type GraphNode, type Place } from './agent-graph.ts'

const width = 168
const height = 34
const columnStep = width + 44
const rowStep = height + 10

const left = ({ column }: Place): number => column * columnStep
const middle = ({ row }: Place): number => row * rowStep + height / 2

const percent = (part: number, all: number): string => `${(part / all) * 100}%`

/** Agents as boxes, callers on the left. It is as wide as its names need; where there is less room, boxes and gaps shrink to a half. */
export function AgentGraphView({ root, agents }: { readonly root: string; readonly agents: readonly AgentDescription[] }) {
  const byName = new Map(agents.map((agent) => [agent.name, agent]))
  const { nodes, edges, columns, rows } = agentGraph(root, (name) => byName.get(name)?.agents ?? [])
  const [full, tall] = [columns * columnStep - (columnStep - width), rows * rowStep - (rowStep - height)]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a large graph scrolls by keyboard
    <section class="graph" tabIndex={0} aria-label={`Agents that ${root} calls`}>
      <div class="graph-box" style={{ maxWidth: `${full}px`, minWidth: `${full / 2}px`, height: `${tall}px` }}>
        <svg viewBox={`0 0 ${full} ${tall}`} preserveAspectRatio="none" aria-hidden="true">
          {edges.map(({ from, to, places }) => (
            <path key={`${from} ${to}`} d={edgePath(places)} />
          ))}
        </svg>
        {nodes.map((node) => {
          const style = {
            left: percent(left(node), full),
            top: `${node.row * rowStep}px`,
            width: percent(width, full),
            height: `${height}px`,
          }
          return <Box key={node.name} node={node} agent={byName.get(node.name)} isRoot={node.name === root} style={style} />
        })}
      </div>
    </section>
  )
}

/** Curves from place to place, and straight lines where a box would be. */
function edgePath(places: readonly Place[]): string {
  const [first, ...rest] = places
  if (!first) return ''
  const curves = rest.map((place, index) => {
    const before = places[index] ?? first
    const [x, y, endX, endY] = [left(before) + width, middle(before), left(place), middle(place)]
    const half = (x + endX) / 2
    return `C${half} ${y} ${half} ${endY} ${endX} ${endY}${index < rest.length - 1 ? `h${width}` : ''}`
  })
  return `M${left(first) + width} ${middle(first)}${curves.join('')}`
}

interface BoxProps {
  readonly node: GraphNode
  /** Absent: the server does not describe it. */
  readonly agent: AgentDescription | undefined
  readonly isRoot: boolean
  readonly style: { readonly [name: string]: string }
}

function Box({ node, agent, isRoot, style }: BoxProps) {
  const title = agent ? `${node.name}: ${agent.description}` : node.name
  const name = <span>{node.name.split(/(?<=[_-])/).flatMap((part, i) => (i === 0 ? part : [<wbr key={i} />, part]))}</span>
  if (isRoot || !agent)
    return (
      <span class="graph-node" data-root={isRoot ? '' : undefined} style={style} title={title}>
        {name}
      </span>
    )
  return (
    <a class="graph-node" style={style} title={title} href={hashOf({ view: 'agents', agent: node.name })}>
      {name}
    </a>
  )
}
