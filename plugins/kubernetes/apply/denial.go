// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// DeniedError is what the user of the kubeconfig may not do.
type DeniedError struct {
	User, Verb, Resource, Group string
	// Namespace is empty for what has none.
	Namespace string
	// Keys are the manifests that it keeps from being applied; Where is the place of the first, or empty.
	Keys  []manifest.Key
	Where string
	Err   error
}

func (e *DeniedError) Error() string {
	scope, role := "in the whole cluster", "ClusterRole"
	if e.Namespace != "" {
		scope, role = "in the namespace "+e.Namespace, "Role"
	}
	resource := e.Resource
	if e.Group != "" {
		resource += "." + e.Group
	}
	return inLines(e.Where,
		fmt.Sprintf("%s: the user %s of the kubeconfig may not %s %s %s", e.names(), e.User, e.Verb, resource, scope),
		fmt.Sprintf("give it a %s with the verbs get, list, watch, create, patch, update and delete for %s", role,
			resource))
}

func (e *DeniedError) Unwrap() error { return e.Err }

// names lists the manifests, within a bound.
func (e *DeniedError) names() string {
	const most = 3
	var names []string
	for i, k := range e.Keys {
		if i == most {
			return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", len(e.Keys)-most)
		}
		names = append(names, k.Human())
	}
	return strings.Join(names, ", ")
}

// The API's words, as its authorizer writes them: `User "x" cannot patch resource "secrets" in API group "" in the
// namespace "prod"`, or `… at the cluster scope`.
var unauthorized = regexp.MustCompile(
	`User "([^"]*)" cannot (\S+) resource "([^"]*)" in API group "([^"]*)"(?: in the namespace "([^"]*)")?`)

// denied reads what the API's authorizer refused; nil when something else refused it.
func denied(err error, m manifest.Manifest) *DeniedError {
	found := unauthorized.FindStringSubmatch(err.Error())
	if found == nil {
		return nil
	}
	return &DeniedError{
		User: found[1], Verb: found[2], Resource: found[3], Group: found[4], Namespace: found[5],
		Keys: []manifest.Key{m.Key()}, Where: m.Origin.String(), Err: err,
	}
}

func isDenied(err error) bool {
	_, ok := errors.AsType[*DeniedError](err)
	return ok
}

// mergeDenied makes one error of those that lack the same permission. The order stays.
func mergeDenied(failed []error) []error {
	type permission struct{ user, verb, resource, group, namespace string }
	first := map[permission]*DeniedError{}
	var merged []error
	for _, err := range failed {
		d, ok := errors.AsType[*DeniedError](err)
		if !ok {
			merged = append(merged, err)
			continue
		}
		p := permission{d.User, d.Verb, d.Resource, d.Group, d.Namespace}
		if one := first[p]; one != nil {
			one.Keys = append(one.Keys, d.Keys...)
			continue
		}
		first[p] = d
		merged = append(merged, d)
	}
	return merged
}
