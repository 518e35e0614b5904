// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// spoken is a call that can be compared: its fields by their paths, ids by what they name.
type spoken struct {
	// about is what the call's order counts within: one deployment, application or plugin.
	about string
	// title is the method with what distinguishes it from others of the method: status and stage.
	title  string
	fields map[string]string
}

// names gives ids and places, which differ from run to run, names that do not.
type names struct{ pairs []string }

func (n *names) add(id, name string) {
	if id != "" && !slices.Contains(n.pairs, id) {
		n.pairs = append(n.pairs, id, name)
	}
}

// learn finds the ids of deployments, stages and commits in calls. Commits are named by their order, those that the
// scenario knows first.
func (n *names) learn(calls []call, commits []string) {
	count := 0
	commit := func(hash string) {
		if hash != "" && !slices.Contains(n.pairs, hash) {
			count++
			n.add(hash, fmt.Sprint("commit ", count))
		}
	}
	for _, hash := range commits {
		commit(hash)
	}
	for i, d := range created(calls) {
		n.add(d.GetId(), fmt.Sprint("deployment ", i+1))
		commit(d.GetTrigger().GetCommit().GetHash())
	}
	for i, r := range of[*pipedservice.ReportDeploymentPlannedRequest](calls, controlPlaneLink) {
		for _, s := range r.GetStages() {
			n.add(s.GetId(), fmt.Sprintf("%s %d of plan %d", s.GetName(), s.GetIndex(), i+1))
		}
	}
}

var (
	timeField = regexp.MustCompile(`((_at|timestamp)$|^from$)`)
	textField = regexp.MustCompile(
		`(^|\.)(summary|status_reason|strategy_summary|status_description|short_reason|reason)$`)
	dirField  = regexp.MustCompile(`_directory$`)
	jsonField = regexp.MustCompile(`(^|\.)(application_config|stage_config|config|output|object)$`)
)

// write makes calls comparable.
func (n *names) write(t *testing.T, calls []call) []spoken {
	t.Helper()
	replace := strings.NewReplacer(n.pairs...)
	var list []spoken
	for _, c := range calls {
		data, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(c.request)
		require.NoError(t, err)
		var fields map[string]any
		require.NoError(t, json.Unmarshal(data, &fields))
		if _, is := c.request.(*pipedservice.ReportPipedMetaRequest); is {
			spread(t, fields)
		}
		s := spoken{about: about(c), title: title(c), fields: map[string]string{}}
		flatten(s.fields, "", fields, replace)
		s.about, s.title = replace.Replace(s.about), replace.Replace(s.title)
		list = append(list, s)
	}
	return list
}

func flatten(into map[string]string, at string, value any, replace *strings.Replacer) {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			flatten(into, strings.TrimPrefix(at+"."+replace.Replace(key), "."), member, replace)
		}
		if len(v) == 0 && at != "" {
			into[at] = "{}"
		}
	case []any:
		for i, member := range v {
			flatten(into, fmt.Sprintf("%s[%d]", at, i), member, replace)
		}
	default:
		into[at] = writeValue(at, fmt.Sprint(v), replace)
	}
}

// writeValue leaves of times and of texts for users only that they are there, of directories of this run the last part.
func writeValue(field, value string, replace *strings.Replacer) string {
	switch {
	case timeField.MatchString(field):
		return "a time"
	case textField.MatchString(field):
		return "a text"
	case dirField.MatchString(field):
		return ".../" + path.Base(value)
	case jsonField.MatchString(field):
		if data, err := base64.StdEncoding.DecodeString(value); err == nil {
			value = sorted(data)
		}
	}
	return replace.Replace(value)
}

// sorted writes JSON with the members of objects in the order of their names, which says nothing.
func sorted(data []byte) string {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return string(data)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// spread puts the members of the piped configuration in its place, without those that only serve the test.
func spread(t *testing.T, fields map[string]any) {
	t.Helper()
	var c map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(fields["config"].(string)), &c))
	for _, p := range c["plugins"].([]any) {
		plugin := p.(map[string]any)
		plugin["port"] = "its port"
		if settings, has := plugin["config"].(map[string]any); has {
			if delete(settings, "backend"); len(settings) == 0 {
				delete(plugin, "config")
			}
		}
	}
	fields["config"] = c
}

func about(c call) string {
	switch r := c.request.(type) {
	case *pipedservice.InChainDeploymentPlannableRequest:
		// The scheduler asks for the turn while the trigger still reports the new deployment.
		return c.method + r.GetDeploymentId()
	case *pipedservice.ReportCommandHandledRequest:
		return "command " + r.GetCommandId()
	case *pipedservice.ReportApplicationLiveStateRequest:
		return "live state of " + r.GetSnapshot().GetApplicationId()
	case *pipedservice.ReportApplicationSyncStateRequest:
		return "live state of " + r.GetApplicationId()
	case interface{ GetDeploymentId() string }:
		return "deployment " + r.GetDeploymentId()
	case *pipedservice.CreateDeploymentRequest:
		return "deployment " + r.GetDeployment().GetId()
	case *pipedservice.CreateDeploymentChainRequest:
		return "deployment " + r.GetFirstDeployment().GetId()
	case *pipedservice.ReportApplicationMostRecentDeploymentRequest:
		return "deployment " + r.GetDeployment().GetDeploymentId()
	case *deployment.DetermineVersionsRequest:
		return c.link + r.GetInput().GetDeployment().GetId()
	case *deployment.DetermineStrategyRequest:
		return c.link + r.GetInput().GetDeployment().GetId()
	case *deployment.ExecuteStageRequest:
		return c.link + r.GetInput().GetDeployment().GetId()
	case interface{ GetApplicationId() string }:
		return c.method + r.GetApplicationId()
	}
	return c.link + c.method
}

func title(c call) string {
	name := c.method
	if strings.HasPrefix(c.link, "piped>") && c.link != controlPlaneLink {
		name = strings.TrimPrefix(c.link, "piped>") + " " + name
	}
	switch r := c.request.(type) {
	case *pipedservice.ReportStageStatusChangedRequest:
		return fmt.Sprintf("%s %s %s", name, r.GetStageId(), r.GetStatus())
	case *deployment.ExecuteStageRequest:
		return fmt.Sprintf("%s %s", name, r.GetInput().GetStage().GetId())
	case *pipedservice.ReportDeploymentStatusChangedRequest:
		return fmt.Sprintf("%s %s", name, r.GetStatus())
	case *pipedservice.ReportDeploymentCompletedRequest:
		return fmt.Sprintf("%s %s", name, r.GetStatus())
	case *pipedservice.ReportApplicationMostRecentDeploymentRequest:
		return fmt.Sprintf("%s %s", name, r.GetStatus())
	case *pipedservice.GetApplicationMostRecentDeploymentRequest:
		return fmt.Sprintf("%s %s", name, r.GetStatus())
	case *pipedservice.ReportApplicationSyncStateRequest:
		return fmt.Sprintf("%s %s", name, r.GetState().GetStatus())
	}
	return name
}

// difference is one between what was recorded and what our agent did.
type difference struct {
	// call is its title.
	call string
	// field is the path of a field whose values differ; empty when only one side has made the call.
	field string
	// recorded and ours are values, "nothing" for none.
	recorded, ours string
}

const nothing = "nothing"

func (d difference) String() string {
	return fmt.Sprintf("{call: %q, field: %q, recorded: %q, ours: %q}", d.call, d.field, d.recorded, d.ours)
}

// compare pairs the calls about one thing in their order, and their fields.
func compare(recorded, ours []spoken) []difference {
	var list []difference
	add := func(d difference) {
		if !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	byThing := func(calls []spoken) map[string][]spoken {
		things := map[string][]spoken{}
		for _, s := range calls {
			things[s.about] = append(things[s.about], s)
		}
		return things
	}
	then, now := byThing(recorded), byThing(ours)
	things := maps.Clone(then)
	maps.Copy(things, now)
	for _, thing := range slices.Sorted(maps.Keys(things)) {
		a, b := then[thing], now[thing]
		for _, pair := range align(a, b) {
			switch {
			case pair[1] < 0:
				add(difference{call: a[pair[0]].title, recorded: "a call", ours: nothing})
			case pair[0] < 0:
				add(difference{call: b[pair[1]].title, recorded: nothing, ours: "a call"})
			default:
				compareFields(a[pair[0]], b[pair[1]], add)
			}
		}
	}
	return list
}

func compareFields(recorded, ours spoken, add func(difference)) {
	fields := maps.Clone(recorded.fields)
	maps.Copy(fields, ours.fields)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		a, there := recorded.fields[field]
		if !there {
			a = nothing
		}
		b, here := ours.fields[field]
		if !here {
			b = nothing
		}
		if a != b {
			add(difference{call: recorded.title, field: field, recorded: a, ours: b})
		}
	}
}

// align finds the longest common order of titles; -1 stands for no counterpart.
func align(a, b []spoken) [][2]int {
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i].title == b[j].title {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var pairs [][2]int
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i].title == b[j].title:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1]:
			pairs = append(pairs, [2]int{i, -1})
			i++
		default:
			pairs = append(pairs, [2]int{-1, j})
			j++
		}
	}
	return pairs
}

// polls are asked again and again; how often says nothing about what is asked.
var polls = []string{"ListApplications", "ListEvents", "ListUnhandledCommands", "ListNotCompletedDeployments"}

// only keeps the calls of some methods, of a poll the first. Unregistered applications are reported again and again,
// too; equal reports that follow each other count once, as in the recordings.
func only(calls []call, methods ...string) []call {
	last := map[string]proto.Message{}
	return slices.DeleteFunc(slices.Clone(calls), func(c call) bool {
		before := last[c.method]
		last[c.method] = c.request
		switch {
		case !slices.Contains(methods, c.method):
			return true
		case slices.Contains(polls, c.method):
			return before != nil
		case c.method == "ReportUnregisteredApplicationConfigurations":
			return before != nil && proto.Equal(before, c.request)
		}
		return false
	})
}
