// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planpreview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	api "github.com/pipedeck/pipedeck/api/plugin/planpreview"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/trigger"
)

// unknownPlugin stands for the plugins of an application when they are not known (PipeCD v1).
const unknownPlugin = "<unknown>"

// application makes the result for one application, and the changes as data of the plugins that report them.
func (m *Maker) application(ctx context.Context, c *change, s subject) (r *model.ApplicationPlanPreviewResult,
	changes []planned) {
	a := s.application
	r = &model.ApplicationPlanPreviewResult{
		ApplicationId: a.GetId(), ApplicationName: a.GetName(), ApplicationKind: a.GetKind(),
		ApplicationDirectory: a.GetGitPath().GetPath(),
		PipedId:              m.options.PipedID, ProjectId: m.options.ProjectID, Labels: maps.Clone(a.GetLabels()),
		CreatedAt: m.options.Now().Unix(),
	}
	switch {
	case s.removed:
		m.gone(s, r)
		return r, nil
	case s.err != nil:
		r.Error = m.text(s.err)
	default:
		draft, err := trigger.Draft{
			Application: a, Config: s.config, Head: c.merged, Branch: c.mirror.Branch(), Remote: c.mirror.Remote(),
			ProjectID: m.options.ProjectID, PipedID: m.options.PipedID, Now: m.options.Now(),
		}.Deployment()
		if err == nil {
			err = m.options.Planner.Preview(
				ctx, draft, func(ctx context.Context, p planner.Preview) (err error) {
					changes, err = m.ask(ctx, a, p, r)
					return err
				},
			)
		}
		if err != nil {
			r.Error = m.text(err)
		}
		r.PlanSummary = append(r.GetPlanSummary(), m.options.Mask(warnings(s.mistakes))...)
	}
	if len(r.GetPluginNames()) == 0 {
		r.PluginNames = []string{unknownPlugin}
	}
	return r, changes
}

// warnings has a line for each mistake, which follows the summary: PipeCD's results have no other place for them.
func warnings(mistakes config.Errors) string {
	var b strings.Builder
	for _, mistake := range mistakes {
		b.WriteString("\nwarning: " + mistake.Error())
	}
	return b.String()
}

// gone says what becomes of an application without a configuration.
func (m *Maker) gone(s subject, r *model.ApplicationPlanPreviewResult) {
	const says = "the application's configuration is removed: nothing is deployed any more, and what runs stays " +
		"until it is deleted by hand"
	for _, plugin := range slices.Sorted(maps.Keys(s.application.GetDeployTargetsByPlugin())) {
		r.PluginNames = append(r.PluginNames, plugin)
		for _, target := range s.application.GetDeployTargetsByPlugin()[plugin].GetDeployTargets() {
			r.PluginPlanResults = append(
				r.PluginPlanResults,
				&model.PluginPlanPreviewResult{PluginName: plugin, DeployTarget: target, PlanSummary: []byte(says)},
			)
		}
	}
	if len(r.GetPluginNames()) == 0 {
		r.PluginNames, r.PlanSummary = []string{unknownPlugin}, []byte(says)
	}
}

// ask asks the plugins what would change. What one of them does not know does not keep the others' answers back.
func (m *Maker) ask(
	ctx context.Context, a *model.Application, p planner.Preview, r *model.ApplicationPlanPreviewResult,
) (changes []planned, failed error) {
	r.SyncStrategy, r.PlanSummary = p.Strategy, []byte(m.options.Mask(p.Summary))
	if p.Problem != nil {
		failed = fmt.Errorf("the deployment could not be planned: %w", p.Problem)
	}
	unchanged := true
	for _, plugin := range p.Plugins {
		r.PluginNames = append(r.PluginNames, plugin.Name())
		answer, data, err := m.askOne(ctx, plugin, a, p)
		switch {
		case status.Code(err) == codes.Unimplemented:
			continue
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("plugin %s: %s", plugin.Name(), status.Convert(err).Message()))
		}
		for _, one := range answer.GetResults() {
			unchanged = unchanged && one.GetNoChange()
			if known := data[one.GetDeployTarget()]; len(known) > 0 {
				changes = append(changes, planned{Target: len(r.GetPluginPlanResults()), Changes: m.masked(known)})
			}
			r.PluginPlanResults = append(r.PluginPlanResults, &model.PluginPlanPreviewResult{
				PluginName: plugin.Name(), DeployTarget: one.GetDeployTarget(), DiffLanguage: one.GetDiffLanguage(),
				PlanSummary: []byte(m.options.Mask(one.GetSummary())),
				PlanDetails: []byte(m.options.Mask(string(one.GetDetails()))),
			})
		}
	}
	r.NoChange = failed == nil && unchanged && len(r.GetPluginPlanResults()) > 0
	return changes, failed
}

// askOne asks one plugin. data are the changes by deploy target, as far as the plugin reports them as data.
func (m *Maker) askOne(
	ctx context.Context, plugin *pluginhost.Plugin, a *model.Application, p planner.Preview,
) (answer *api.GetPlanPreviewResponse, data map[string]json.RawMessage, err error) {
	var trailer metadata.MD
	ctx = metadata.AppendToOutgoingContext(ctx, wantsChangesKey, "yes")
	err = planner.Retry(ctx, []*pluginhost.Plugin{plugin}, func() error {
		answer, err = plugin.PlanPreview().GetPlanPreview(ctx, &api.GetPlanPreviewRequest{
			PipedId: m.options.PipedID, ApplicationId: a.GetId(), ApplicationName: a.GetName(),
			DeployTargets:          a.GetDeployTargetsByPlugin()[plugin.Name()].GetDeployTargets(),
			TargetDeploymentSource: p.Target, RunningDeploymentSource: p.Running,
		}, grpc.Trailer(&trailer))
		return err
	})
	return answer, changesOf(trailer), err
}
