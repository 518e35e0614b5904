// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"

// PlanPreview is the document of pipedeck plan-preview.
type PlanPreview struct {
	Head
	// BaseBranch is the branch that would be merged into.
	BaseBranch string `json:"base_branch"`
	// HeadBranch is the branch that would be merged.
	HeadBranch string `json:"head_branch"`
	// HeadCommit is the commit that would be merged.
	HeadCommit string `json:"head_commit"`
	// Applications are those that the merge would deploy.
	Applications []PreviewedApplication `json:"applications"`
	// Errors say why there is no preview.
	Errors []string `json:"errors"`
}

// PreviewedApplication is what a merge would do to one application.
type PreviewedApplication struct {
	// ID identifies the application; empty for one that the merge adds.
	ID string `json:"id"`
	// Name is that of its configuration.
	Name string `json:"name"`
	// Path is its directory in the repository.
	Path string `json:"path"`
	// Strategy is QUICK_SYNC or PIPELINE.
	Strategy string `json:"strategy"`
	// StrategyReason says why.
	StrategyReason string `json:"strategy_reason"`
	// NoChange says that its cluster would not change.
	NoChange bool `json:"no_change"`
	// Plugins are those that were asked.
	Plugins []string `json:"plugins"`
	// Targets are the changes at each deploy target.
	Targets []PreviewedTarget `json:"targets"`
	// Error says why it could not be deployed; empty when it could.
	Error string `json:"error"`
}

// PreviewedTarget is what a merge would change at one deploy target.
type PreviewedTarget struct {
	// Plugin is the plugin that deploys there.
	Plugin string `json:"plugin"`
	// Target is the name of the deploy target.
	Target string `json:"target"`
	// Summary is one line.
	Summary string `json:"summary"`
	// Details are the changes.
	Details string `json:"details"`
	// Language is that of the details, such as diff.
	Language string `json:"language"`
	// Changes are the changes as data; absent where the plugin does not report them.
	Changes *PlannedChanges `json:"changes,omitempty"`
}

// NewPlanPreview returns the document of a preview.
func NewPlanPreview(p *deckv1.PlanPreview) PlanPreview {
	return PlanPreview{
		NewHead(), p.GetBaseBranch(), p.GetHeadBranch(), p.GetHeadCommit(),
		each(p.GetApplications(), newPreviewedApplication), List(p.GetErrors()),
	}
}

func newPreviewedApplication(a *deckv1.ApplicationPlanPreview) PreviewedApplication {
	return PreviewedApplication{
		a.GetId(), a.GetName(), a.GetPath(), a.GetStrategy(), a.GetStrategyReason(), a.GetNoChange(),
		List(a.GetPlugins()), each(a.GetTargets(), newPreviewedTarget), a.GetError(),
	}
}

func newPreviewedTarget(t *deckv1.TargetPlanPreview) PreviewedTarget {
	return PreviewedTarget{t.GetPlugin(), t.GetTarget(), t.GetSummary(), t.GetDetails(), t.GetLanguage(),
		newPlannedChanges(t.GetChanges())}
}
