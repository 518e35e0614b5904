// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command terraform is the plugin of the stages TERRAFORM_PLAN, TERRAFORM_APPLY and TERRAFORM_ROLLBACK, which deploy
// with OpenTofu or Terraform. piped starts it.
//
// TERRAFORM_PLAN saves its plan, and TERRAFORM_APPLY applies that plan and no other: when the commit or the state is
// another one by then, the stage is refused with the reason. Without a stage before it, TERRAFORM_APPLY makes and shows
// the plan itself. A plan that destroys resources waits for an approval, unless allowDestroy says something else.
//
// Nothing kills a program that applies: a cancelled stage interrupts it and waits until it has written its state and
// released the lock. A stage that is executed again after a crash makes a new plan, which must not hold more than the
// plan that was shown, and applies what is left.
package main
