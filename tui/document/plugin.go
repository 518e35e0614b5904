// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"

// Plugin is one plugin process.
type Plugin struct {
	// Name is that of the piped configuration.
	Name string `json:"name"`
	// State is that of the process.
	State string `json:"state" words:"plugin"`
	// PID is the id of the process; 0 when there is none.
	PID int32 `json:"pid"`
	// Restarts counts how often it was started again, for any reason.
	Restarts int32 `json:"restarts"`
	// RSS is the memory that it uses, in bytes.
	RSS uint64 `json:"rss"`
	// CPU is in hundredths of a core.
	CPU float64 `json:"cpu"`
	// Detail says why it has this state.
	Detail string `json:"detail"`
	// Piped is the id of the piped that runs it.
	Piped string `json:"piped"`
	// StartedAt is when the process began.
	StartedAt string `json:"started_at,omitempty" format:"date-time"`
	// Stages are the types of the stages that it runs.
	Stages []string `json:"stages"`
	// DeployTargets are those of its configuration.
	DeployTargets []string `json:"deploy_targets"`
	// Binary is the file that it runs.
	Binary string `json:"binary"`
	// Version is that of the plugin; empty when it is not known.
	Version string `json:"version"`
	Lives
	// Linked says that it is a part of the program piped.
	Linked bool `json:"linked"`
	Debugging
	Usage
	Output
}

// Output is what a plugin process has printed.
type Output struct {
	// LastOutput are the newest lines that it has printed.
	LastOutput []string `json:"last_output"`
	// OutputLines counts the lines that it has printed.
	OutputLines int64 `json:"output_lines"`
}

// Debugging says how the author of a plugin works on it.
type Debugging struct {
	// Attached is where its author's own process waits that works in its place; empty for one that piped has started.
	Attached string `json:"attached"`
	// Held says that a debugger holds it: no clock runs.
	Held bool `json:"held"`
	// HeldAt is where, such as "stage.go:57 (main.greet)"; empty where that is not known.
	HeldAt string `json:"held_at"`
}

// Usage is what a plugin process uses, and its limits.
type Usage struct {
	// OpenFiles counts its open files.
	OpenFiles uint32 `json:"open_files"`
	// Threads counts its threads.
	Threads uint32 `json:"threads"`
	// Goroutines counts its goroutines; 0 when that is not known.
	Goroutines uint32 `json:"goroutines"`
	// MemoryLimit is in bytes; 0 for none.
	MemoryLimit uint64 `json:"memory_limit"`
	// CPULimit is in cores; 0 for none.
	CPULimit float64 `json:"cpu_limit"`
	// PIDsLimit is the most processes and threads that it may have; 0 for no limit.
	PIDsLimit uint32 `json:"pids_limit"`
}

// NewPlugin returns the object of a plugin.
func NewPlugin(p *deckv1.Plugin) Plugin {
	return Plugin{
		Name: p.GetName(), State: PluginState(p), PID: p.GetPid(), Restarts: p.GetRestarts(), RSS: p.GetRssBytes(),
		CPU: p.GetCpuPercent(), Detail: p.GetDetail(), Piped: p.GetPipedId(), StartedAt: moment(p.GetStartedAt()),
		Stages: List(p.GetStages()), DeployTargets: List(p.GetDeployTargets()), Binary: p.GetBinary(),
		Version: p.GetVersion(), Linked: p.GetLinked(),
		Lives: Lives{
			newBuild(p.GetBuild()), p.GetReloads(), p.GetCrashes(), p.GetInjectedEnds(),
			p.GetAbandonedEnds(), each(p.GetExits(), newExit),
		},
		Debugging: Debugging{Attached: p.GetAttached(), Held: p.GetHeld(), HeldAt: p.GetHeldAt()},
		Usage: Usage{
			OpenFiles: p.GetOpenFiles(), Threads: p.GetThreads(), Goroutines: p.GetGoroutines(),
			MemoryLimit: p.GetMemoryLimitBytes(), CPULimit: p.GetCpuLimitCores(), PIDsLimit: p.GetPidsLimit(),
		},
		Output: Output{List(p.GetLastOutput()), p.GetOutputLines()},
	}
}
