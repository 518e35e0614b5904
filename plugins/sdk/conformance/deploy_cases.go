// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/api/model"
)

// deployCases deploy the application by a quick sync, deploy a changed copy of it, and compare what the plugin says
// about the two: live state, plan preview and stages have to agree.
func deployCases() []Case {
	return []Case{{
		ID: "deploy.synced", Capability: Deploying, run: deploySynced,
		Title: "an application that was just deployed is in sync",
		Why:   "users see drift that is none, and deployments on drift never stop",
		Next:  "compare what is live now with deploy_source of the request; read both at each request",
	}, {
		ID: "deploy.drift", Capability: Deploying, run: deployDrift,
		Title: "an application that has changed in Git is out of sync until it is deployed",
		Why:   "users see SYNCED, and what is live is something else",
		Next:  "compare what is live now with deploy_source of the request",
	}, {
		ID: "deploy.drift.reason", Capability: Deploying, run: deployDriftReason,
		Title: "an application that is out of sync says why",
		Why:   "users see OUT_OF_SYNC, and not what differs",
		Next:  "fill short_reason with the words for a list of applications, and reason with the difference",
	}, {
		ID: "deploy.fresh", Capability: Deploying, run: deployFresh,
		Title: "the live state is another one after a deployment",
		Why:   "users see what was live when the plugin started",
		Next:  "read what is live at each request, or keep a cache up to date",
	}, {
		ID: "deploy.notified", Capability: Deploying, run: deployNotified,
		Title: "a plugin that notifies of changes does so after a deployment",
		Why:   "piped asks for the live state when it is notified: users see the old one for minutes",
		Next:  "answer AwaitChanges with the id of the application when its live state is another one",
	}, {
		ID: "deploy.health", Capability: Deploying, run: deployHealth,
		Title: "a deployed application has a resource of known health",
		Why:   "the application is shown as UNKNOWN for ever, whatever happens to it",
		Next:  "set health_status of resources to HEALTHY or UNHEALTHY where the platform knows",
	}, {
		ID: "deploy.targets.live", Capability: Deploying, run: deployTargetsLive,
		Title: "the live state has the resources of each deploy target, under its name",
		Why:   "users see the resources of another environment, or none",
		Next:  "look each name of deploy_targets up in the configuration, and set deploy_target to it",
	}, {
		ID: "deploy.targets.only", Capability: Deploying, run: deployTargetsOnly,
		Title: "a stage changes the deploy targets of its deployment, and no others",
		Why:   "a deployment to a test environment would change production, or change nothing",
		Next:  "look the names in deploy_targets_by_plugin up in the configuration, by name and not by position",
	}, {
		ID: "deploy.preview", Capability: Deploying, run: deployPreview,
		Title: "the plan preview shows a change exactly when there is one",
		Why:   "reviewers overlook a change, or look for one that is not there",
		Next:  "compare target_deployment_source with what is live, or with running_deployment_source",
	}, {
		ID: "deploy.preview.harmless", Capability: Deploying, run: deployPreviewHarmless,
		Title: "a plan preview changes nothing at the deploy targets",
		Why:   "opening a pull request would deploy it",
		Next:  "only read in GetPlanPreview",
	}, {
		ID: "deploy.rollback", Capability: Deploying, run: deployRollback,
		Title: "the rollback stage brings back what ran before",
		Why:   "a deployment that failed stays live, and users see a rollback that succeeded",
		Next:  "deploy running_deployment_source in the rollback stage",
	}}
}

// deployed is the story that the cases look at, or why there is none.
func (p *probe) deployed() (*story, error) {
	if _, err := p.shared(); err != nil {
		return nil, err
	}
	return p.suite.story.get(func() (*story, error) { return p.enact() })
}

func deploySynced(p *probe) error {
	s, err := p.deployed()
	if err == nil {
		err = s.blocked.verdict(s.stage, s.lastTarget())
	}
	switch {
	case err != nil:
		return err
	case s.after.sync == model.ApplicationSyncStatus_OUT_OF_SYNC && s.after.change == nothing:
		return fmt.Errorf("after %s has deployed the application, the plan preview says that nothing changes, and the "+
			"live state is OUT_OF_SYNC (%s): drift is reported where there is none", s.stage, s.after.reason)
	case len(s.missed) > 0 && len(s.missed) < len(s.targets):
		return fmt.Errorf("after %s has deployed the application to %s, it is OUT_OF_SYNC at %s: the stage leaves out "+
			"deploy targets", s.stage, strings.Join(s.targets, ", "), strings.Join(s.missed, ", "))
	case s.after.sync == model.ApplicationSyncStatus_OUT_OF_SYNC && s.same(s.before, s.after):
		return fmt.Errorf("after %s has deployed the application, it is OUT_OF_SYNC (%s), and the live state is the "+
			"same as before: it is not read again, or the stage deploys nothing", s.stage, s.after.reason)
	case s.after.sync == model.ApplicationSyncStatus_OUT_OF_SYNC:
		return fmt.Errorf("after %s has deployed the application, it is OUT_OF_SYNC for the same commit: %s", s.stage,
			s.after.reason)
	case s.after.sync != model.ApplicationSyncStatus_SYNCED:
		return skip("it reports no sync state")
	}
	p.saw("%s", s.after.sync)
	return nil
}

func deployDrift(p *probe) error {
	s, err := p.deployed()
	switch {
	case err != nil:
		return err
	case s.after.sync != model.ApplicationSyncStatus_SYNCED:
		return skip("it reports no sync state after a deployment, or see deploy.synced")
	case s.changed.sync == model.ApplicationSyncStatus_OUT_OF_SYNC && s.overlooked():
		return fmt.Errorf("after a deployment of another %s to %s alone, it is OUT_OF_SYNC at %s, and SYNCED when it "+
			"is asked about %s: deploy targets are left out", s.what, s.lastTarget(), s.lastTarget(),
			strings.Join(s.targets, ", "))
	case s.changed.sync == model.ApplicationSyncStatus_OUT_OF_SYNC:
		p.saw("OUT_OF_SYNC: %s", s.changed.reason)
		return nil
	case s.changed.sync != model.ApplicationSyncStatus_SYNCED:
		return skip("it reports no sync state for an application that has changed")
	case s.changed.change == changes:
		return fmt.Errorf("the plan preview shows a change of %s, and before that is deployed the live state is "+
			"SYNCED with it: drift is not seen, or the answer comes from a cache", s.what)
	case s.named && s.emptied == model.ApplicationSyncStatus_SYNCED:
		return fmt.Errorf("it reports SYNCED as deployed, with another %s, and without the files of the application: "+
			"drift is not seen", s.what)
	}
	if err := s.unseenBy("the live state says SYNCED"); err != nil {
		return err
	}
	return skip("a change of %s is none to the plugin", s.what)
}

func deployDriftReason(p *probe) error {
	s, err := p.deployed()
	switch {
	case err != nil:
		return err
	case s.changed.sync != model.ApplicationSyncStatus_OUT_OF_SYNC:
		return skip("it reports no drift, see deploy.drift")
	case !s.changed.explained:
		return fmt.Errorf("with another %s, the live state is OUT_OF_SYNC without a reason", s.what)
	}
	p.saw("%s", s.changed.reason)
	return nil
}

func deployFresh(p *probe) error {
	s, err := p.deployed()
	switch {
	case err != nil:
		return err
	case !s.apart():
		return skip("what the plugin reports does not distinguish the two commits")
	case s.second.sync == model.ApplicationSyncStatus_OUT_OF_SYNC:
		return fmt.Errorf("after %s has deployed another %s, the live state is still OUT_OF_SYNC with it: %s", s.stage,
			s.what, s.second.reason)
	}
	return nil
}

func deployNotified(p *probe) error {
	s, err := p.deployed()
	switch {
	case err != nil:
		return err
	case s.notified == nil:
		return errNoChanges
	case !s.apart():
		return skip("what the plugin reports does not distinguish the two commits")
	case !*s.notified:
		return fmt.Errorf("%s has deployed another %s, and AwaitChanges did not report the application in %s", s.stage,
			s.what, p.suite.bounds.settle())
	}
	return nil
}

func deployHealth(p *probe) error {
	s, err := p.deployed()
	if err != nil {
		return err
	}
	if len(s.after.resources) == 0 {
		return skip("the live state has no resources")
	}
	for _, r := range s.after.resources {
		if r.GetHealthStatus() != model.ResourceState_UNKNOWN || r.GetHealthDescription() != "" {
			p.saw("%s is %s", r.GetName(), r.GetHealthStatus())
			return nil
		}
	}
	return fmt.Errorf("after a deployment, the health of all resources is UNKNOWN (%d of them), without a "+
		"health_description: the health is missing", len(s.after.resources))
}

func deployTargetsLive(p *probe) error {
	s, err := p.deployed()
	switch {
	case err != nil:
		return err
	case len(s.after.resources) == 0:
		return skip("the live state has no resources")
	case !slices.ContainsFunc(s.after.resources, func(r *model.ResourceState) bool {
		return r.GetDeployTarget() != ""
	}):
		return skip("its resources name no deploy target")
	}
	for _, target := range p.suite.targets() {
		if !slices.ContainsFunc(s.after.resources, func(r *model.ResourceState) bool {
			return r.GetDeployTarget() == target
		}) {
			return fmt.Errorf("the application was deployed to %s, and the live state has no resource there",
				strings.Join(p.suite.targets(), ", "))
		}
	}
	for _, r := range s.last.resources {
		if target := r.GetDeployTarget(); target != "" && target != s.lastTarget() {
			return fmt.Errorf("asked about the deploy target %s alone, it reports %s at %q: the name is wrong, or the "+
				"answer comes from a cache", s.lastTarget(), r.GetName(), target)
		}
	}
	return nil
}

func deployTargetsOnly(p *probe) error {
	s, err := p.deployed()
	switch {
	case err != nil:
		return err
	case len(p.suite.targets()) < 2:
		return skip("it is configured with one deploy target; with two, this case sees which of them a stage changes")
	case !s.apart() && len(s.files.moved()) == 0:
		return skip("what the plugin reports does not distinguish the two commits")
	case s.onlyEnd != nil:
		return fmt.Errorf("a deployment to %s succeeds, and one to the deploy target %s alone does not: %w",
			strings.Join(p.suite.targets(), " and "), s.lastTarget(), s.onlyEnd)
	case s.apart() && s.others == otherThanCommit:
		return fmt.Errorf("a deployment to the deploy target %s alone has changed %s", s.lastTarget(),
			strings.Join(s.otherTargets(), ", "))
	case s.apart() && s.only == otherThanCommit:
		return fmt.Errorf("a deployment to the deploy target %s alone has not changed it", s.lastTarget())
	}
	return s.filesOfLast()
}

func deployPreview(p *probe) error {
	s, err := p.deployed()
	switch {
	case err != nil:
		return err
	case s.after.change == unseen:
		return skip("it makes no plan previews of this application")
	case s.after.change == changes:
		return fmt.Errorf("after %s has deployed the application, the plan preview of the same commit shows a "+
			"change: %s", s.stage, s.after.summary)
	case s.after.sync == model.ApplicationSyncStatus_SYNCED &&
		s.changed.sync == model.ApplicationSyncStatus_OUT_OF_SYNC && s.changed.change == nothing:
		return fmt.Errorf("the live state is OUT_OF_SYNC with another %s (%s), and the plan preview of it says that "+
			"nothing changes", s.what, s.changed.reason)
	}
	if err := s.unseenBy("the plan preview says that nothing changes"); err != nil && s.changed.change == nothing {
		return err
	}
	p.saw("%s", s.changed.summary)
	return nil
}

func deployPreviewHarmless(p *probe) error {
	s, err := p.deployed()
	switch {
	case err != nil:
		return err
	case s.after.change == unseen:
		return skip("it makes no plan previews of this application")
	case s.previewed.change != s.changed.change && s.changed.change == changes:
		return fmt.Errorf("a plan preview of another %s shows a change, and a second one none: the preview itself has "+
			"deployed it", s.what)
	case s.after.sync == model.ApplicationSyncStatus_SYNCED &&
		s.previewed.sync == model.ApplicationSyncStatus_OUT_OF_SYNC:
		return fmt.Errorf("after a plan preview of another %s, the live state is OUT_OF_SYNC with what was deployed: "+
			"the preview itself has changed it", s.what)
	}
	return s.writtenByPreview()
}

func deployRollback(p *probe) error {
	s, err := p.deployed()
	switch {
	case err != nil:
		return err
	case s.rollback == "":
		return skip("a quick sync of it has no rollback stage")
	case s.rollbackEnd == nil && s.lost() != "":
		return fmt.Errorf("%s succeeded, and what ran before is not live again at %s", s.rollback, s.lost())
	case !s.apart() && len(s.files.moved()) == 0:
		return skip("what the plugin reports does not distinguish the two commits")
	case s.rollbackEnd != nil:
		return fmt.Errorf("%s: %w", s.rollback, s.rollbackEnd)
	case s.restored == otherThanCommit:
		return errors.New(s.rollback + " succeeded, and what ran before is not live again")
	}
	p.saw("by %s", s.rollback)
	return s.undone.verdict(s.rollback)
}
