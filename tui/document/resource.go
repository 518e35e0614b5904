// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import (
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Resources is the document of pipedeck tree and pipedeck diff.
type Resources struct {
	Head
	// App is the name of the application.
	App string `json:"app"`
	// AppID is the id of the application.
	AppID string `json:"app_id"`
	// Sync says whether the cluster has what Git asks for.
	Sync string `json:"sync" words:"sync"`
	// Health says whether the resources work.
	Health string `json:"health" words:"health"`
	// Resources are the live ones, owners before what they own; in pipedeck diff only those that are not as in Git.
	Resources []Resource `json:"resources"`
}

// Resource is one live object of an application at one of its deploy targets.
type Resource struct {
	// ID is unique in the application.
	ID string `json:"id"`
	// Parents are the ids of its owners; empty for what was deployed itself.
	Parents []string `json:"parents"`
	// Kind is its type.
	Kind string `json:"kind"`
	// Namespace is where it is; empty for an object without one.
	Namespace string `json:"namespace"`
	// Name is its name.
	Name string `json:"name"`
	// DeployTarget is where it lives, as plugin/target.
	DeployTarget string `json:"deploy_target"`
	// Health says whether it works.
	Health string `json:"health" words:"health"`
	// Reason says why it does not.
	Reason string `json:"reason"`
	// Drift says how it differs from Git; empty when it does not.
	Drift string `json:"drift"`
	// PutBackRefused says why a sync would not put it back as it is in Git; empty when it would.
	PutBackRefused string `json:"put_back_refused"`
	// CreatedAt is when it was created.
	CreatedAt string `json:"created_at,omitempty" format:"date-time"`
	// Fields are those in which it differs from Git, as far as its plugin names them.
	Fields []FieldDrift `json:"fields"`
	// MoreFields counts those that were left out.
	MoreFields uint32 `json:"more_fields"`
}

// FieldDrift is one field in which a resource differs from Git. Values are JSON of at most 1 KiB; an empty one is
// absent.
type FieldDrift struct {
	// Path is that of the field.
	Path string `json:"path"`
	// Git is its value in Git.
	Git string `json:"git"`
	// Live is its value in the cluster.
	Live string `json:"live"`
	// Applied is the value that was applied last.
	Applied string `json:"applied"`
	// Change says what was changed since the last sync: LIVE, GIT, BOTH, or APPLIED where Git and live agree.
	Change string `json:"change" words:"change"`
	// Secret says that the values are secret: they are stars.
	Secret bool `json:"secret"`
	// Writer is the program that wrote the live value; empty when that is not known.
	Writer string `json:"writer"`
}

// NewResources returns the document of live resources of an application.
func NewResources(app *deckv1.Application, resources []*deckv1.Resource) Resources {
	return Resources{
		NewHead(), app.GetName(), app.GetId(), Word(app.GetSync()), Health(app.GetHealth()),
		each(resources, newResource),
	}
}

func newResource(r *deckv1.Resource) Resource {
	return Resource{
		r.GetId(), List(r.GetParentIds()), r.GetKind(), r.GetNamespace(), r.GetName(), r.GetDeployTarget(),
		Health(r.GetHealth()), r.GetHealthReason(), r.GetDrift(), r.GetPutBackRefused(), moment(r.GetCreatedAt()),
		each(r.GetFields(), newFieldDrift), r.GetMoreFields(),
	}
}

func newFieldDrift(f *deckv1.FieldDrift) FieldDrift {
	return FieldDrift{
		f.GetPath(), f.GetGitValue(), f.GetLiveValue(), f.GetAppliedValue(), ChangeWord(f.GetChange()), f.GetSecret(),
		f.GetWriter(),
	}
}

// ChangeWord returns what was changed without the prefix of the enum: "LIVE".
func ChangeWord(change deckv1.FieldDrift_Change) string {
	return strings.TrimPrefix(change.String(), "CHANGE_")
}
