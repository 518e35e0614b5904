// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package notifier

import (
	"cmp"
	"fmt"
	"net/url"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/clip"
	"github.com/pipedeck/pipedeck/piped/observe"
)

// maxText bounds the text of a message, in characters; Slack cuts longer ones.
const maxText = 3000

// view is what templates see. Strings are escaped for where the text goes to.
type view struct {
	// Event is the name, such as DEPLOYMENT_FAILED; Group the name of its group.
	Event, Group string
	// Title and Text are the message that is sent without a template; Link leads to what it is about.
	Title, Text, Link string
	// Mentions are the people to call, as Slack writes them.
	Mentions string
	Project  string
	// Application, Deployment (its id), Stage, Commit (its hash), CommitMessage and Author are empty when
	// the event is about none.
	Application, ApplicationLink             string
	Deployment, DeploymentLink, Stage        string
	Commit, CommitMessage, CommitURL, Author string
	// TriggeredBy is the user or the author who started the deployment.
	TriggeredBy, Reason, Approver, Commander string
	Labels                                   map[string]string
	At                                       time.Time
	Piped                                    observe.Identity

	startedAt int64
}

// links makes addresses of the control plane's web pages.
type links struct{ address func() string }

func (l links) to(project string, parts ...string) string {
	base, err := url.Parse(l.address())
	if err != nil || base.Host == "" {
		return ""
	}
	target := base.JoinPath(parts...)
	target.RawQuery = url.Values{"project": {project}}.Encode()
	return target.String()
}

func plain(text string) string { return text }

func newView(e *observe.Event, to links, mentioned mentions, escape func(string) string) *view {
	v := &view{
		Event: e.Type.String(), Group: string(e.Type.Group()), Mentions: mentioned.String(),
		Application: escape(e.ApplicationName()),
		Reason:      escape(e.Reason), Approver: escape(e.Approver), Commander: escape(e.Commander), At: e.At,
	}
	labels, _ := e.Labels()
	v.Labels = make(map[string]string, len(labels))
	for key, value := range labels {
		v.Labels[escape(key)] = escape(value)
	}
	if a := e.Application; a != nil {
		v.Project = a.GetProjectId()
		v.ApplicationLink = to.to(v.Project, "applications", a.GetId())
		v.Link = v.ApplicationLink
	}
	if d := e.Deployment; d != nil {
		v.deployment(d, to, escape)
		if e.Type == observe.DeploymentTriggerFailed { // there is no such deployment
			v.Deployment, v.DeploymentLink, v.Link = "", "", v.ApplicationLink
		}
	}
	if p := e.Piped; p != nil {
		v.Piped, v.Project = *p, p.ProjectID
		v.Link = to.to(p.ProjectID, "settings", "piped")
	}
	v.Stage = escape(e.Stage.GetName())
	v.Title, v.Text = v.sentence(e.Type)
	return v
}

func (v *view) deployment(d *model.Deployment, to links, escape func(string) string) {
	commit := d.GetTrigger().GetCommit()
	v.Project, v.Deployment, v.startedAt = d.GetProjectId(), escape(d.GetId()), d.GetCreatedAt()
	v.ApplicationLink = to.to(v.Project, "applications", d.GetApplicationId())
	v.DeploymentLink = to.to(v.Project, "deployments", d.GetId())
	v.Link = v.DeploymentLink
	v.Commit, v.CommitMessage, v.CommitURL = escape(commit.GetHash()), escape(commit.GetMessage()), commit.GetUrl()
	v.Author = escape(commit.GetAuthor())
	v.TriggeredBy = escape(cmp.Or(d.GetTrigger().GetCommander(), commit.GetAuthor()))
}

// sentence says in words what has happened.
func (v *view) sentence(t observe.Type) (title, text string) {
	by := func(verb, who string) string {
		if who == "" {
			return ""
		}
		return verb + " by " + who
	}
	of := fmt.Sprintf("Deployment of %s", v.Application)
	stage := fmt.Sprintf("Stage %s of %s", v.Stage, v.Application)
	switch t {
	case observe.DeploymentTriggered:
		return of + " was triggered", v.CommitMessage
	case observe.DeploymentPlanned:
		return of + " was planned", v.Reason
	case observe.DeploymentStarted:
		return of + " has started", ""
	case observe.DeploymentWaitApproval:
		return of + " waits for an approval", "Stage " + v.Stage
	case observe.DeploymentApproved:
		return of + " was approved", by("Approved", v.Approver)
	case observe.DeploymentRollingBack:
		return of + " is being rolled back", v.Reason
	case observe.DeploymentSucceeded:
		return of + " has succeeded", ""
	case observe.DeploymentFailed:
		return of + " has failed", v.Reason
	case observe.DeploymentCancelled:
		return of + " was cancelled", cmp.Or(by("Cancelled", v.Commander), v.Reason)
	case observe.DeploymentTriggerFailed:
		return "No deployment of " + v.Application + " could be triggered", v.Reason
	case observe.ApplicationSynced:
		return v.Application + " is in sync again", ""
	case observe.ApplicationOutOfSync:
		return v.Application + " is out of sync", v.Reason
	case observe.ApplicationHealthy:
		return v.Application + " is healthy again", ""
	case observe.ApplicationUnhealthy:
		return v.Application + " is unhealthy", v.Reason
	case observe.PipedStarted:
		return "Piped " + v.Piped.Name + " has started", ""
	case observe.PipedStopped:
		return "Piped " + v.Piped.Name + " has stopped", ""
	case observe.StageStarted:
		return stage + " has started", ""
	case observe.StageSkipped:
		return stage + " was skipped", v.Reason
	case observe.StageSucceeded:
		return stage + " has succeeded", ""
	case observe.StageFailed:
		return stage + " has failed", v.Reason
	case observe.StageCancelled:
		return stage + " was cancelled", v.Reason
	}
	return v.Event, v.Reason
}

// field is a fact below a message.
type field struct{ name, value, link string }

func (v *view) fields() []field {
	started := ""
	if v.startedAt > 0 {
		started = fmt.Sprintf(
			"<!date^%d^{date_num} {time_secs}|%s>", v.startedAt, time.Unix(v.startedAt, 0).UTC().Format(time.RFC3339),
		)
	}
	var list []field
	for _, f := range []field{
		{"Project", v.Project, ""},
		{"Application", v.Application, v.ApplicationLink},
		{"Deployment", clip.Characters(v.Deployment, 8), v.DeploymentLink},
		{"Commit", clip.Characters(v.Commit, 7), v.CommitURL},
		{"Triggered by", v.TriggeredBy, ""},
		{"Started at", started, ""},
		{"Piped", v.Piped.ID, ""},
		{"Version", v.Piped.Version, ""},
	} {
		if f.value != "" {
			list = append(list, f)
		}
	}
	return list
}
