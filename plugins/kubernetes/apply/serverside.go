// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// replacedManagers own what was written other than by server-side apply: by `kubectl apply` and `kubectl replace`,
// which is how PipeCD v1 applies, and by our own replacing.
var replacedManagers = sets.New("kubectl-client-side-apply", "kubectl-replace", FieldManager)

// serverSide applies with unknown fields refused. Fields that others manage are taken from them, and that is said, but
// for a manifest that asks for `kubectl apply --server-side` (PipeCD v1): there they are an error, as with kubectl.
func (a *Applier) serverSide(ctx context.Context, r dynamic.ResourceInterface,
	m manifest.Manifest) (*unstructured.Unstructured, string, error) {
	data, err := json.Marshal(m.Object)
	if err != nil {
		return nil, "", err
	}
	opts := patchOptions(false)
	live, err := r.Patch(ctx, m.GetName(), types.ApplyPatchType, data, opts)
	if isHeld(err) && !a.refusesForce(ctx, r, m) {
		// What these have written is taken over as a whole, below.
		taken := slices.DeleteFunc(heldFields(err), func(h held) bool { return replacedManagers.Has(h.manager) })
		if len(taken) > 0 {
			a.log.Infof("- %s: Git wins over %s; take out of Git what is to stay theirs", m.Key().Human(), list(taken))
		}
		opts = patchOptions(true)
		live, err = r.Patch(ctx, m.GetName(), types.ApplyPatchType, data, opts)
	}
	if err != nil {
		return nil, "", err
	}
	if !hasReplaced(live) {
		return live, "applied", nil
	}
	takeover, err := csaupgrade.UpgradeManagedFieldsPatch(live, replacedManagers, FieldManager)
	if err != nil || takeover == nil {
		return live, appliedOnly, nil // nothing to take over
	}
	if _, err := r.Patch(ctx, m.GetName(), types.JSONPatchType, takeover, metav1.PatchOptions{}); err != nil {
		return nil, "", fmt.Errorf("take over the fields that kubectl, or a replacing, manages: %w", err)
	}
	how := appliedOnly
	if slices.ContainsFunc(live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager != FieldManager && replacedManagers.Has(e.Manager)
	}) {
		how = "applied (taken over from kubectl apply)"
	}
	live, err = r.Patch(ctx, m.GetName(), types.ApplyPatchType, data, opts)
	return live, how, err
}

func patchOptions(force bool) metav1.PatchOptions {
	return metav1.PatchOptions{FieldManager: FieldManager, Force: &force, FieldValidation: metav1.FieldValidationStrict}
}

// keepsOthersFields reports whether a field that someone else manages stays his.
func keepsOthersFields(m manifest.Manifest) bool {
	value := m.GetAnnotations()[annotationServerSide]
	return value == "true" || value == manifest.Enabled
}

// annotationServerSide asks for `kubectl apply --server-side` (PipeCD v1).
const annotationServerSide = "pipecd.dev/server-side-apply"
