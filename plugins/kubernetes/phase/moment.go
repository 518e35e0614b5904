// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package phase

// Moment is the part of a deployment in which an object is applied.
type Moment string

// The moments of a deployment.
const (
	// Before is before the first stage changes the cluster, or before the first deletion.
	Before Moment = "before"
	// Sync is the rollout itself.
	Sync Moment = "sync"
	// After is when the last stage has changed the cluster, and all is ready, or when all is deleted.
	After Moment = "after"
	// OnFailure is when the rollout has failed.
	OnFailure Moment = "failure"
	// Test is a stage for tests.
	Test Moment = "test"
)

// Occasion is what a deployment is for an application, in words.
type Occasion string

// The occasions on which manifests are applied.
const (
	// Install is the first deployment of an application, Upgrade every later one.
	Install  Occasion = "an installation"
	Upgrade  Occasion = "an upgrade"
	Rollback Occasion = "a rollback"
	// Removal deletes the application: hooks run before and after that.
	Removal Occasion = "a removal"
)

// use is a moment on some occasions. A moment of no occasion never comes.
type use struct {
	moment    Moment
	occasions []Occasion
}

var (
	deployed   = []Occasion{Install, Upgrade}
	everywhere = []Occasion{Install, Upgrade, Rollback}
)

// helmUses are the values of helm.sh/hook; none are those that are never applied.
var helmUses = map[string]use{
	"pre-install":   {Before, []Occasion{Install}},
	"post-install":  {After, []Occasion{Install}},
	"pre-upgrade":   {Before, []Occasion{Upgrade}},
	"post-upgrade":  {After, []Occasion{Upgrade}},
	"pre-rollback":  {Before, []Occasion{Rollback}},
	"post-rollback": {After, []Occasion{Rollback}},
	"test":          {Test, everywhere},
	"test-success":  {Test, everywhere}, // the older name
	"test-failure":  {},                 // Helm has it no more
	"pre-delete":    {Before, []Occasion{Removal}},
	"post-delete":   {After, []Occasion{Removal}},
	"crd-install":   {Sync, everywhere},
}

// argoUses are the values of argocd.argoproj.io/hook. Argo CD has no rollback: what ran when the commit was deployed
// that a rollback goes back to does not run again.
var argoUses = map[string]use{
	"PreSync":    {Before, deployed},
	"Sync":       {Sync, deployed},
	"PostSync":   {After, deployed},
	"SyncFail":   {OnFailure, deployed},
	"Skip":       {},
	"PreDelete":  {Before, []Occasion{Removal}},
	"PostDelete": {After, []Occasion{Removal}},
}
