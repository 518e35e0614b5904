// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import (
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// The event lines of --output json: a head, and the object that has changed. Lines of the type log also are what
// pipedeck logs -o json prints.
type (
	// ComponentLine says that a part of the environment has changed.
	ComponentLine struct {
		LineHead
		Component
	}
	// ApplicationLine says that an application has changed.
	ApplicationLine struct {
		LineHead
		Application
	}
	// DeploymentLine says that a deployment has changed.
	DeploymentLine struct {
		LineHead
		Deployment
	}
	// StageLine says that a stage has changed.
	StageLine struct {
		LineHead
		Stage
	}
	// PluginLine says that a plugin process has changed.
	PluginLine struct {
		LineHead
		Plugin
	}
	// ProblemLine says that a problem has come or gone.
	ProblemLine struct {
		LineHead
		Problem
	}
	// StoryLine says that a story that is played says something else.
	StoryLine struct {
		LineHead
		Caption
	}
	// LogLine is one block of the log of a stage.
	LogLine struct {
		LineHead
		Log
	}
	// SwitchLine stands between the lines of a base and those of HEAD.
	SwitchLine struct {
		LineHead
		Switch
	}
	// ResultLine says how the command ends; it is the last line.
	ResultLine struct {
		LineHead
		Result
	}
)

// Log is one block of the log of a stage.
type Log struct {
	// Deployment is the id of the deployment.
	Deployment string `json:"deployment"`
	// Stage is the id of the stage.
	Stage string `json:"stage"`
	// StageName is the type of the stage.
	StageName string `json:"stage_name"`
	// Severity is that of the line.
	Severity string `json:"severity" words:"severity"`
	// Text is what the plugin has written.
	Text string `json:"text"`
}

// PluginLogLine is one line that a plugin process has printed, at a time that is not known. Only pipedeck logs --plugin
// prints it.
type PluginLogLine struct {
	// Type is plugin_log.
	Type string `json:"type"`
	// Schema is the version of the form of the line: 1.
	Schema int `json:"schema"`
	// Plugin is the name of the plugin.
	Plugin string `json:"plugin"`
	// Text is the line.
	Text string `json:"text"`
}

// Switch is the end of the deployments of a base, after which those of HEAD begin.
type Switch struct {
	// Base is the hash of the commit that was deployed first.
	Base string `json:"base"`
	// Head is the hash of the commit that is deployed next.
	Head string `json:"head"`
}

// Result is how a command ends.
type Result struct {
	// ExitCode is that of the command.
	ExitCode int `json:"exit_code"`
	// Reason says why.
	Reason string `json:"reason"`
	// NothingToDeploy is true when the commits of ci --from --changed touch no application, so that nothing was
	// deployed.
	NothingToDeploy bool `json:"nothing_to_deploy,omitempty"`
}

// NewLogLine returns the event line of a block of the log of a stage of a type.
func NewLogLine(at time.Time, block *deckv1.LogBlock, stage string) LogLine {
	return LogLine{NewLineHead(at, "log"), Log{
		block.GetDeploymentId(), block.GetStageId(), stage, Word(block.GetSeverity()), block.GetText(),
	}}
}

// NewPluginLogLine returns the event line of a line that a plugin has printed.
func NewPluginLogLine(plugin, line string) PluginLogLine {
	return PluginLogLine{"plugin_log", Schema, plugin, line}
}
