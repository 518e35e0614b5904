// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package notifier

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/observe"
)

// notificationKey is where PipeCD v1 keeps an application's notification settings in its deployments.
const notificationKey = "DeploymentNotification"

// mentions are the ids of Slack users and groups to call.
type mentions struct{ users, groups []string }

// newMentions finds whom the application wants to be called for this event. (PipeCD v1 takes those of
// DEPLOYMENT_CANCELLED for successes and failures too.)
func newMentions(e *observe.Event) mentions {
	var m mentions
	var settings config.Notification
	text := e.Deployment.GetMetadataV2().GetShared().GetKeyValues()[notificationKey]
	if text == "" || json.Unmarshal([]byte(text), &settings) != nil {
		return m
	}
	for _, one := range settings.Mentions {
		if one.Event == "*" || strings.TrimPrefix(one.Event, "EVENT_") == e.Type.String() {
			m.users = union(m.users, one.Slack, one.SlackUsers)
			m.groups = union(m.groups, one.SlackGroups)
		}
	}
	return m
}

// union joins lists in order, each name once.
func union(lists ...[]string) []string {
	var all []string
	for _, name := range slices.Concat(lists...) {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// String is how Slack wants them written.
func (m mentions) String() string {
	var words []string
	for _, user := range m.users {
		words = append(words, fmt.Sprintf("<@%s>", user))
	}
	for _, group := range m.groups {
		if !strings.Contains(group, "!subteam^") { // PipeCD v1 takes both forms
			group = fmt.Sprintf("<!subteam^%s>", group)
		}
		words = append(words, group)
	}
	return strings.Join(words, " ")
}
