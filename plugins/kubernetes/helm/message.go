// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/child"
)

// word is what a job says to the process that wants it: which template it begins with, or a question.
type word struct {
	At       string
	Question *Question
}

// reply is the answer to a question; JSON is empty for what is not there.
type reply struct {
	JSON  []byte
	Error string
}

// What the templates of one chart may look up.
const (
	maxLookups     = 200
	maxLookupBytes = 8 << 20
)

// asker answers the questions of templates, within bounds. It asks nothing where there is no cluster.
type asker struct {
	cluster Cluster
	asked   int
	bytes   int
}

func (a *asker) ask(ctx context.Context, q Question) *reply {
	if a.cluster == nil {
		return &reply{}
	}
	if a.asked++; a.asked > maxLookups {
		return &reply{Error: fmt.Sprintf("look up %s: a chart may look up %d times, and asks for more", q, maxLookups)}
	}
	data, err := a.cluster.Lookup(ctx, q)
	if a.bytes += len(data); err == nil && a.bytes > maxLookupBytes {
		err = fmt.Errorf("a chart may look up %d MiB, and asks for more", maxLookupBytes>>20)
	}
	if err != nil {
		return &reply{Error: fmt.Sprintf("look up %s: %v", q, err)}
	}
	return &reply{JSON: data}
}

// listen answers the questions of a job, and notes in at the template that it has come to.
func (a *asker) listen(at *string) child.Listener {
	return func(ctx context.Context, said child.Word) (any, error) {
		var w word
		if err := said.Read(&w); err != nil {
			return nil, err
		}
		if w.Question == nil {
			*at = w.At
			return nil, nil
		}
		return a.ask(ctx, *w.Question), nil
	}
}

// lookup is the function that templates call.
func lookup(t *child.Talk) any {
	return func(apiVersion, kind, namespace, name string) (map[string]any, error) {
		got := &reply{}
		q := &Question{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
		err := t.Ask(word{Question: q}, got)
		if err == nil && got.Error != "" {
			err = errors.New(got.Error)
		}
		found := map[string]any{}
		if err != nil || len(got.JSON) == 0 {
			return found, err
		}
		return found, json.Unmarshal(got.JSON, &found) // whole numbers stay whole, as in Kubernetes' own clients
	}
}
