// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
)

func previewCases() []Case {
	return []Case{{
		ID: "preview.answers", Capability: PlanPreview, run: previewAnswers,
		Title: "shows what a change would do in time",
		Why:   "the plan preview of a pull request fails, or takes until it is given up",
		Next:  "answer GetPlanPreview within 30 s",
	}, {
		ID: "preview.targets", Capability: PlanPreview, run: previewTargets,
		Title: "each result belongs to a deploy target that was asked about",
		Why:   "reviewers see the change of another environment",
		Next:  "set deploy_target to one of the request",
	}, {
		ID: "preview.targets.all", Capability: PlanPreview, run: previewAllTargets,
		Title: "there is a result for each deploy target that was asked about",
		Why:   "reviewers believe that nothing changes at the others",
		Next:  "answer for each name of deploy_targets, with no_change where nothing changes",
	}, sourcesCase("preview.sources", PlanPreview, "GetPlanPreview", askPreview), {
		ID: "preview.changes", Capability: PlanPreview, run: previewChanges,
		Title: "a result without a change shows no difference, one with a change says something",
		Why:   "reviewers overlook a change, or look for one that is not there",
		Next:  "set no_change when details has no + and - lines, and only then; fill summary",
	}, {
		ID: "preview.text", Capability: PlanPreview, run: previewText,
		Title: "details are UTF-8 text",
		Why:   "the comment on the pull request cannot be written",
		Next:  "write a diff as text",
	}, {
		ID: "preview.first", Capability: PlanPreview, run: previewFirst,
		Title: "an application that has never been deployed does not end the process",
		Why:   "the pull request that adds an application would end the stages of all deployments",
		Next:  "treat an absent running_deployment_source as nothing deployed",
	}, {
		ID: "preview.deterministic", Capability: PlanPreview, run: previewDeterministic,
		Title: "shows the same three times",
		Why:   "the comment on the pull request changes without a change",
		Next:  "sort what comes from a map",
	}}
}

func (p *probe) preview(x *session, running bool) (*planpreview.GetPlanPreviewResponse, error) {
	target, err := p.suite.sourceFor()
	if err != nil {
		return nil, err
	}
	var runs *common.DeploymentSource
	if running {
		if runs, err = p.suite.sourceFor(); err != nil {
			return nil, err
		}
	}
	return p.previewOf(x, target, runs)
}

func (p *probe) previewOf(x *session, target,
	running *common.DeploymentSource) (*planpreview.GetPlanPreviewResponse, error) {
	request := p.suite.previewRequest(target, running, p.suite.targets())
	ctx, cancel := p.limit()
	defer cancel()
	answer, err := planpreview.NewPlanPreviewServiceClient(x.conn).GetPlanPreview(ctx, request)
	switch {
	case status.Code(err) == codes.Unimplemented:
		return nil, skip("it makes no plan previews")
	case x.gone(err) != nil:
		return nil, x.gone(err)
	case refusal(err):
		return nil, skip("it refuses this application: %s", words(err))
	case err != nil:
		return nil, fmt.Errorf("GetPlanPreview ended with %s", words(err))
	}
	return answer, nil
}

// previewed is the plan preview of an application that has not changed.
func previewed(p *probe) (*planpreview.GetPlanPreviewResponse, error) {
	x, err := p.shared()
	if err != nil {
		return nil, err
	}
	return p.preview(x, true)
}

func previewAnswers(p *probe) error {
	answer, err := previewed(p)
	p.saw("%d results", len(answer.GetResults()))
	return err
}

// eachPreview makes a case of a rule for results.
func eachPreview(p *probe, check func(result *planpreview.PlanPreviewResult) error) error {
	answer, err := previewed(p)
	if err != nil {
		return err
	}
	for _, result := range answer.GetResults() {
		if err := check(result); err != nil {
			return err
		}
	}
	return nil
}

func previewTargets(p *probe) error {
	return eachPreview(p, func(result *planpreview.PlanPreviewResult) error {
		if !slices.Contains(p.suite.targets(), result.GetDeployTarget()) {
			return fmt.Errorf("it shows a result for the deploy target %q, which was not asked about",
				result.GetDeployTarget())
		}
		return nil
	})
}

func previewChanges(p *probe) error {
	return eachPreview(p, func(result *planpreview.PlanPreviewResult) error {
		switch {
		case result.GetNoChange() && differs(string(result.GetDetails())):
			return fmt.Errorf("the result for %s says no change, and has details: %s", result.GetDeployTarget(),
				firstLine(string(result.GetDetails())))
		case !result.GetNoChange() && len(result.GetDetails()) == 0 && result.GetSummary() == "":
			return fmt.Errorf("the result for %s says that something changes, and not what", result.GetDeployTarget())
		}
		return nil
	})
}

// differs is whether a text has lines of a difference; others, such as comments, say something about it.
func differs(details string) bool {
	for line := range strings.Lines(details) {
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			return true
		}
	}
	return false
}

func previewText(p *probe) error {
	return eachPreview(p, func(result *planpreview.PlanPreviewResult) error {
		if !utf8.Valid(result.GetDetails()) {
			return fmt.Errorf("the details for %s are no UTF-8", result.GetDeployTarget())
		}
		return nil
	})
}

func previewFirst(p *probe) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	answer, err := p.preview(x, false)
	p.saw("%d results", len(answer.GetResults()))
	return err
}

// previewDeterministic asks while no stage deploys, which changes what there is to show.
func previewDeterministic(p *probe) error {
	p.suite.deploying.Lock()
	defer p.suite.deploying.Unlock()
	return thrice("GetPlanPreview", func() (proto.Message, error) { return previewed(p) })
}

func previewAllTargets(p *probe) error {
	answer, err := previewed(p)
	if err != nil {
		return err
	}
	for _, target := range p.suite.targets() {
		if !slices.ContainsFunc(answer.GetResults(), func(r *planpreview.PlanPreviewResult) bool {
			return r.GetDeployTarget() == target
		}) {
			return fmt.Errorf("asked about %s, it has no result for the deploy target %s",
				strings.Join(p.suite.targets(), ", "), target)
		}
	}
	return nil
}
