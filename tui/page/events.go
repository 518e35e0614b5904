// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"github.com/pipedeck/pipedeck/tui/document"
)

// Protocol is the version of the events. A page that knows another one loads itself again.
const Protocol = 1

// The modes of a page.
const (
	// ModeLive is an environment, ModeDemo one on which a story is played, ModeReplay a recorded session.
	ModeLive   = "live"
	ModeDemo   = "demo"
	ModeReplay = "replay"
)

// Hello is what does not change while the server runs.
type Hello struct {
	Protocol int `json:"protocol"`
	// Version is that of the program.
	Version string `json:"version"`
	// Environment is its name, Mode one of the modes.
	Environment string `json:"environment"`
	Mode        string `json:"mode"`
	// Flags are those that a command needs to find the environment, each after a space; empty for none.
	Flags string `json:"flags,omitempty"`
	// Recorded is when a recorded session began; Missing is why it is not complete, empty when it is.
	Recorded string `json:"recorded,omitempty"`
	Missing  string `json:"missing,omitempty"`
	// Epoch distinguishes the servers that have used one address.
	Epoch string `json:"epoch"`
	// Now is the time of the server, or that of the recorded session.
	Now string `json:"now"`
}

// Reset says why everything is sent again.
type Reset struct {
	Reason string `json:"reason"`
}

// State is what has changed. Objects are whole; what is not in it is as it was.
type State struct {
	// Whole: this is everything. The tab forgets what it had, also lists that are left out here.
	Whole bool `json:"whole,omitempty"`
	// Synced: the environment has sent its whole state once. Before, what is missing may only not have come yet.
	Synced       bool               `json:"synced"`
	Connection   *Connection        `json:"connection,omitempty"`
	Overall      *Overall           `json:"overall,omitempty"`
	Environment  *Environment       `json:"environment,omitempty"`
	Applications []Application      `json:"applications,omitempty"`
	Deployments  []Summary          `json:"deployments,omitempty"`
	Plugins      []Plugin           `json:"plugins,omitempty"`
	Components   []Component        `json:"components,omitempty"`
	Problems     []document.Problem `json:"problems,omitempty"`
	Pipeds       []Piped            `json:"pipeds,omitempty"`
	Gone         *Gone              `json:"gone,omitempty"`
}

// Gone are the objects that are not there any more: ids, keys of plugins. They go before the others of the same event
// come. Deployments go with their application.
type Gone struct {
	Applications []string `json:"applications,omitempty"`
	Deployments  []string `json:"deployments,omitempty"`
	Plugins      []string `json:"plugins,omitempty"`
	Problems     []string `json:"problems,omitempty"`
}

// The states of a connection.
const (
	Connecting   = "CONNECTING"
	Connected    = "CONNECTED"
	Disconnected = "DISCONNECTED"
)

// Connection is that between the server of the page and the environment. While it is not CONNECTED, everything else is
// as it was at the time since.
type Connection struct {
	State  string `json:"state"`
	Reason string `json:"reason"`
	Since  string `json:"since,omitempty"`
}

// The states of everything together, the worst last.
const (
	OverallStarting = "STARTING"
	OverallReady    = "READY"
	OverallDegraded = "DEGRADED"
	OverallFailed   = "FAILED"
	OverallStopping = "STOPPING"
)

// Overall is how everything is together. FAILED is a part that could not start; failed deployments are counted only.
type Overall struct {
	State string `json:"state"`
	// Failed applications have a failed deployment or an invalid configuration, Unhealthy ones have resources that do
	// not work, Waiting deployments wait for a person.
	Failed    int `json:"failed"`
	Unhealthy int `json:"unhealthy"`
	Waiting   int `json:"waiting"`
	Deploying int `json:"deploying"`
}

// Environment is what watchers need to know of it: of places on the machine, only that of the repository.
type Environment struct {
	Name        string    `json:"name"`
	Version     string    `json:"version"`
	Repository  string    `json:"repository"`
	Branch      string    `json:"branch"`
	StartedAt   string    `json:"started_at,omitempty"`
	Live        bool      `json:"live"`
	ClusterKind string    `json:"cluster_kind"`
	Simulated   bool      `json:"simulated"`
	LocalPods   bool      `json:"local_pods"`
	Clusters    []Cluster `json:"clusters"`
	// Breakpoints are written as --break has them.
	Breakpoints []string `json:"breakpoints"`
}

// Cluster is one cluster of an environment.
type Cluster struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Simulated bool   `json:"simulated"`
	LocalPods bool   `json:"local_pods"`
}

// Application is one application.
type Application struct {
	document.Application
	// Label is its name, with what distinguishes it from others of that name.
	Label string `json:"label"`
	// Failed: its last deployment has failed, or its configuration is not valid.
	Failed bool `json:"failed"`
	// Present is the id of the deployment that acts: the one under way while newer ones wait, else the newest; empty
	// before the first.
	Present string `json:"present"`
}

// Summary is a deployment without its stages. The whole state has the newest of each application; a tab keeps at most
// Kept of each.
type Summary struct {
	document.Deployment
	// StagesEnded and StagesTotal count the stages without those of a rollback that has not begun.
	StagesEnded int `json:"stages_ended"`
	StagesTotal int `json:"stages_total"`
	// At are the names of the stages that run.
	At []string `json:"at"`
	// Waits: a stage waits for an approval, or is paused at a breakpoint.
	Waits bool `json:"waits"`
}

// Kept is how many deployments of one application there are at most.
const Kept = 20

// Plugin is a plugin process; what it has printed and where its program is are left out.
type Plugin struct {
	// Key identifies it in the environment.
	Key string `json:"key"`
	// Label is its name, with the piped that runs it where several run one of that name.
	Label     string   `json:"label"`
	Name      string   `json:"name"`
	State     string   `json:"state"`
	PID       int32    `json:"pid"`
	Restarts  int32    `json:"restarts"`
	Crashes   int32    `json:"crashes"`
	Reloads   int32    `json:"reloads"`
	RSS       uint64   `json:"rss"`
	CPU       float64  `json:"cpu"`
	Detail    string   `json:"detail"`
	Piped     string   `json:"piped"`
	StartedAt string   `json:"started_at,omitempty"`
	Stages    []string `json:"stages"`
	Version   string   `json:"version"`
	Held      bool     `json:"held"`
}

// Component is a part of the environment; the order is that of starting.
type Component struct {
	document.Component
	Order int32 `json:"order"`
}

// Piped is an agent.
type Piped struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	State   string `json:"state"`
	Version string `json:"version"`
	Own     bool   `json:"own"`
}

// Detail is the selected deployment. Missing: there is none with that id.
type Detail struct {
	ID      string `json:"id"`
	Missing bool   `json:"missing,omitempty"`
	// Deployment has the stages in their order in Stages.
	Deployment *Summary `json:"deployment,omitempty"`
	Stages     []Stage  `json:"stages,omitempty"`
	// Graph is left out for a deployment without stages, and for one whose graph is too large to be drawn.
	Graph  *Graph  `json:"graph,omitempty"`
	Charts []Chart `json:"charts,omitempty"`
	// Planned is what stages change, or would change, at their deploy targets.
	Planned []Planned `json:"planned,omitempty"`
}

// Stage is a stage with what the terminal draws of it.
type Stage struct {
	document.Stage
	// Label is what the graph calls it.
	Label string `json:"label"`
	// Look is how it is drawn: not_started, running, waiting, done, failed, skipped or cancelled.
	Look string `json:"look"`
	// Short replaces the duration in its box, such as "1 of 2" approvals; Note is what the terminal writes next to it.
	Short string `json:"short"`
	Note  string `json:"note"`
	// TookSeconds is how long it has run at the time At, without pauses. While it Ticks, that goes on.
	TookSeconds float64 `json:"took_seconds"`
	At          string  `json:"at"`
	Ticks       bool    `json:"ticks"`
}

// Graph is the drawing of the stages, in cells of a terminal: a cell is about twice as high as wide.
type Graph struct {
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Nodes  []Node `json:"nodes"`
	Edges  []Edge `json:"edges"`
	// Rollback is the line above the stages of a rollback, or the one that names them before it begins.
	Rollback *Rollback `json:"rollback,omitempty"`
}

// Node is the box of a stage, or with joint the point at which edges of several stages meet.
type Node struct {
	ID     string `json:"id"`
	X      int    `json:"x"`
	Y      int    `json:"y"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Joint  bool   `json:"joint,omitempty"`
}

// Edge is the way from a node to one that needs it.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Flow is not_yet, passed, active or undo.
	Flow string `json:"flow"`
	// Lines are straight, each as x1, y1, x2, y2 in cells, and connected. They begin at the right side of a node and
	// end at the left side of another; a line runs through the middles of its cells.
	Lines [][4]int `json:"lines"`
}

// Rollback is the line about the stages of a rollback.
type Rollback struct {
	Y int `json:"y"`
	// Began: its stages are drawn below the line. To is the commit that it goes back to.
	Began bool   `json:"began"`
	To    string `json:"to"`
	// Stages are the labels of the stages.
	Stages []string `json:"stages"`
}

// Planned is a table of what a stage changes at a deploy target.
type Planned struct {
	// Stage is the id of the stage, Head a line about all changes.
	Stage string       `json:"stage"`
	Head  string       `json:"head"`
	Rows  []PlannedRow `json:"rows"`
}

// PlannedRow is a resource or an output that changes, or with field a field of the resource before it. Kind is create,
// update or destroy, and empty for words.
type PlannedRow struct {
	Sign  string `json:"sign"`
	Words string `json:"words"`
	Kind  string `json:"kind"`
	Field bool   `json:"field,omitempty"`
}

// Chart is a metric that an analysis evaluates.
type Chart struct {
	// Stage is the id of the stage.
	Stage string   `json:"stage"`
	Name  string   `json:"name"`
	Query string   `json:"query"`
	Min   *float64 `json:"min,omitempty"`
	Max   *float64 `json:"max,omitempty"`
	// Points are the evaluations, the oldest first.
	Points []Point `json:"points"`
}

// Point is one evaluation: the least and the greatest sample, their median, and the median of what they are compared
// with. Verdict is ok, bad or what the plugin says else; Empty: there was no value.
type Point struct {
	Low     float64  `json:"low"`
	High    float64  `json:"high"`
	Value   float64  `json:"value"`
	Other   *float64 `json:"other,omitempty"`
	Verdict string   `json:"verdict"`
	Empty   bool     `json:"empty,omitempty"`
}

// Log are lines of the log of a stage. Lines have numbers from 0 that do not change.
type Log struct {
	Deployment string `json:"deployment"`
	Stage      string `json:"stage"`
	// From is the number of the first of Lines.
	From  int    `json:"from"`
	Lines []Line `json:"lines"`
	// First is the number of the oldest line that there is, Next that of the line to come.
	First int `json:"first"`
	Next  int `json:"next"`
	// Complete: the stage will write no more. Truncated: the beginning is not kept any more.
	Complete  bool `json:"complete"`
	Truncated bool `json:"truncated"`
	// Again: the log is another one from here on; the lines before are void.
	Again bool `json:"again,omitempty"`
	// Error is why the log cannot be read; it is read again.
	Error string `json:"error,omitempty"`
}

// Line is one line of a log.
type Line struct {
	Time string `json:"time,omitempty"`
	// Severity is INFO, SUCCESS or ERROR as the plugin says, empty for none; Level is source, debug, normal, warn or
	// failure as the line itself says.
	Severity string `json:"severity"`
	Level    string `json:"level"`
	Text     string `json:"text"`
}

// Watchers is how many streams are open.
type Watchers struct {
	Watching int `json:"watching"`
}

// Playback is how a recorded session is played. While it is playing, the position goes on with the time.
type Playback struct {
	AtSeconds     float64 `json:"at_seconds"`
	LengthSeconds float64 `json:"length_seconds"`
	Playing       bool    `json:"playing"`
	Speed         float64 `json:"speed"`
	// Now is the time of the session.
	Now string `json:"now"`
}

// Story is the caption of a story that is played, or was recorded. Without a text, there is none any more.
type Story struct {
	document.Caption
	// Application is the name of the one that the caption is about; empty for none.
	Application string `json:"application"`
}

// End says why there are no more events. Environment: the environment has ended; else only what serves the page has.
type End struct {
	Reason      string `json:"reason"`
	Environment bool   `json:"environment"`
}
