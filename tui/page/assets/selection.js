// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// What is selected. The fragment of the address keeps it, so that a reload and a bookmark show the same; while the page
// follows what happens, the fragment is empty. The token is never in it: the server's first page has removed it.

export const views = ['log', 'stage', 'plugins', 'environment', 'history', 'applications'];

export class Selection {
  following = true;
  application = '';
  deployment = '';
  stage = '';
  view = 'log';
  // pinned: the user has chosen the deployment, so newer ones of its application do not replace it.
  pinned = false;

  constructor() { this.read(); }

  // read takes what the address says.
  read() {
    const said = new URLSearchParams(location.hash.slice(1));
    this.application = said.get('app') ?? '';
    this.deployment = said.get('deployment') ?? '';
    this.stage = said.get('stage') ?? '';
    this.pinned = this.deployment !== '';
    this.following = !this.application && !this.deployment;
    if (views.includes(said.get('view'))) this.view = said.get('view');
  }

  // write has the address say it.
  write() {
    const says = new URLSearchParams();
    if (!this.following) {
      if (this.application) says.set('app', this.application);
      if (this.deployment && this.pinned) says.set('deployment', this.deployment);
      if (this.stage) says.set('stage', this.stage);
    }
    if (this.view !== 'log') says.set('view', this.view);
    const hash = says.size > 0 ? `#${says}` : '';
    if (location.hash !== hash) history.replaceState(null, '', location.pathname + location.search + hash);
  }

  // settle chooses what is not chosen, from what is known. It reports whether another deployment or stage is shown now.
  settle(model) {
    const before = `${this.deployment} ${this.stage}`;
    if (this.following) {
      const leading = model.leading();
      this.deployment = leading?.id ?? '';
      this.application = leading?.app_id ?? '';
    } else if (!this.pinned) {
      this.deployment = model.applications.get(this.application)?.present ?? '';
    } else if (!this.application) {
      this.application = model.deployments.get(this.deployment)?.app_id ?? '';
    }
    if (model.detail?.id === this.deployment && model.detail.stages) {
      const known = model.detail.stages.some((stage) => stage.id === this.stage);
      if (this.following || !known) this.stage = model.leadingStage()?.id ?? '';
    } else if (this.following) {
      this.stage = '';
    }
    this.write();
    return before !== `${this.deployment} ${this.stage}`;
  }

  follow() {
    this.following = true;
    this.pinned = false;
  }

  pickApplication(id) {
    Object.assign(this, { following: false, pinned: false, application: id, deployment: '', stage: '' });
  }

  pickDeployment(deployment) {
    Object.assign(this, {
      following: false, pinned: true, application: deployment.app_id, deployment: deployment.id, stage: '',
    });
  }

  pickStage(id) {
    Object.assign(this, { following: false, pinned: true, stage: id });
  }
}
