// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
)

// maxAnswerBytes bounds one answer.
const maxAnswerBytes = 8 << 20

var errTooLarge = fmt.Errorf("the answer has more than %d MiB, the limit for a lookup", maxAnswerBytes>>20)

// read asks the API for an object, or for the list of all.
func read(ctx context.Context, c *cluster.Client, one asked) (status int, data []byte, err error) {
	at, err := one.path()
	if err != nil {
		return 0, nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lookupTimeout,
		fmt.Errorf("the API did not answer within %s", lookupTimeout))
	defer cancel()
	status, body, err := c.Stream(ctx, at, nil)
	if err != nil {
		return 0, nil, because(ctx, err)
	}
	defer body.Close()
	data, err = io.ReadAll(io.LimitReader(body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return 0, nil, because(ctx, err)
	case len(data) > maxAnswerBytes:
		return 0, nil, errTooLarge
	}
	return status, data, nil
}

// because is why a request has failed.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// path is where the API has it. Names come from templates: they must not lead to anything else.
func (a asked) path() (string, error) {
	for _, name := range []string{a.namespace, a.name} {
		if wrong := content.IsPathSegmentName(name); len(wrong) > 0 {
			return "", fmt.Errorf("%q is not the name of an object", name)
		}
	}
	at := []string{"/apis", a.resource.Group, a.resource.Version}
	if a.resource.Group == "" {
		at = []string{"/api", a.resource.Version}
	}
	if a.namespace != "" {
		at = append(at, "namespaces", a.namespace)
	}
	return path.Join(append(at, a.resource.Resource, a.name)...), nil
}

// metadata is what counts of an object.
type metadata struct {
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	UID             string `json:"uid"`
	ResourceVersion string `json:"resourceVersion"`
}

func (m metadata) String() string {
	return strings.Join([]string{m.Namespace, m.Name, m.UID, m.ResourceVersion}, "/")
}

// versionOf identifies the state of an object, or of all objects of a list.
func versionOf(data []byte) (string, error) {
	var found struct {
		Metadata metadata `json:"metadata"`
		Items    []struct {
			Metadata metadata `json:"metadata"`
		} `json:"items"`
	}
	if err := json.Unmarshal(data, &found); err != nil {
		return "", fmt.Errorf("read the answer of the API: %w", err)
	}
	if found.Items == nil {
		return found.Metadata.String(), nil
	}
	var all strings.Builder
	for _, item := range found.Items {
		all.WriteString(item.Metadata.String() + "\n")
	}
	return digest(all.String()), nil
}

// withKinds gives the items of a list their kind, which the API leaves out and clients of Go fill in.
func withKinds(gvk schema.GroupVersionKind, data []byte) ([]byte, error) {
	var list map[string]json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read the answer of the API: %w", err)
	}
	if list["items"] == nil {
		return data, nil
	}
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(list["items"], &items); err != nil {
		return data, nil //nolint:nilerr // an object that has something else named items
	}
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	for _, item := range items {
		for name, value := range map[string]string{"apiVersion": apiVersion, "kind": kind} {
			if item != nil && item[name] == nil {
				item[name] = json.RawMessage(fmt.Sprintf("%q", value))
			}
		}
	}
	filled, err := json.Marshal(items)
	if err != nil {
		return nil, err
	}
	list["items"] = filled
	return json.Marshal(list)
}

// reason is what the API says about a refusal.
func reason(data []byte) string {
	var status struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(data, &status); err != nil || status.Message == "" {
		return "without a reason"
	}
	return status.Message
}
