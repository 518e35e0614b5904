// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// checkSeen returns an error when the application has one of the kinds in Git that could not be looked at: what an
// earlier commit has left of it would stay, with the marks of an application that is gone.
func (r *removal) checkSeen() error {
	var named, advice []string
	for _, s := range r.unseen {
		if !slices.ContainsFunc(r.deployed, func(m manifest.Manifest) bool { return s.Covers(m.Key()) }) {
			continue
		}
		help := "have the API answer for what is named above"
		if s.Reason == "" {
			s.Reason = "the credentials of the deploy target may not list it"
			help = "let the credentials of the deploy target list what is named above"
		}
		named = append(named, s.String())
		if !slices.Contains(advice, help) {
			advice = append(advice, help)
		}
	}
	if len(named) == 0 {
		return nil
	}
	name := r.req.Deployment.Application.Name
	return fmt.Errorf("the application has kinds in Git, at commit %s, that could not be looked at, so that objects "+
		"of them might be left, and nothing more was deleted: %s\nnext step: %s, then run: pipedeck remove %s "+
		"--cascade; or leave what still runs: pipedeck remove %s --orphan", short(r.source.CommitHash),
		strings.Join(named, ", "), strings.Join(advice, ", and "), name, name)
}

// unanswered is the error of a look that has found nothing while the API has not answered for kinds, which it may do
// later. Kinds that the credentials may not list are left out: no later look would find more.
func unanswered(skipped []inventory.Skipped) error {
	waiting := slices.DeleteFunc(slices.Clone(skipped),
		func(s inventory.Skipped) bool { return !s.Unseen || s.Reason == "" })
	if len(waiting) == 0 {
		return nil
	}
	return fmt.Errorf("these kinds could not be looked at: %s", inventory.Words(waiting))
}

// sayUnseen says at the end of a removal which kinds may have objects of the application that it has not found.
func (r *removal) sayUnseen() {
	if len(r.unseen) == 0 {
		return
	}
	kinds, groups := []string{}, []string{}
	for _, s := range r.unseen {
		if s.Resource == "" {
			groups = append(groups, cmp.Or(s.Group, s.Version))
		} else {
			kinds = append(kinds, s.Name())
		}
	}
	log := r.req.Log
	log.Errorf("Objects of these kinds may be left, because they could not be looked at: %s", inventory.Words(r.unseen))
	for _, group := range slices.Compact(slices.Sorted(slices.Values(groups))) {
		log.Infof("next step: see which kinds these are when the API answers: kubectl api-resources --api-group=%s",
			group)
	}
	if len(kinds) > 0 {
		log.Infof("next step: look for them, and delete them by hand: kubectl get %s -A -l %s",
			strings.Join(kinds, ","), inventory.Labels(r.req.Deployment.Application.ID))
	}
}
